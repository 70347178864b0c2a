#pragma once

#include <string>
#include <string_view>

#include "egress/dns_message.hpp"

namespace oyat::egress {

// A question as it goes to a resolver, with what somebody who does not see it must guess to forge the reply:
// a random number, and random capitals in the name, which a resolver repeats as they are
// (draft-vixie-dnsext-dns0x20). The port of the socket is the third.
class SentQuestion {
public:
    explicit SentQuestion(const dns::Question& question);

    [[nodiscard]] const std::string& bytes() const { return bytes_; }

    enum class Fit {
        stranger,    // answers nothing that was asked
        other_case,  // the right number, but the capitals are lost: forged, or from a resolver that rewrites
                     // names
        exact
    };
    [[nodiscard]] Fit fit(const dns::Reply& reply) const;

private:
    std::uint16_t id_ = 0;
    dns::Question question_;
    std::string bytes_;
};

}  // namespace oyat::egress
