#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/egress_control.hpp"
#include "egress/pins.hpp"
#include "egress/shared.hpp"
#include "io/async_fd.hpp"
#include "policy/policy.hpp"

namespace oyat::egress {

struct Destination {
    IpAddress address;
    std::uint16_t port = 0;
};

// What was found out about a connection, and what becomes of it.
struct Passage {
    enum class Way {
        refuse,
        pass,       // bytes both ways, unread
        read_tls,   // end its TLS and judge each request
        read_http,  // judge each request, in clear
    };
    Way way = Way::refuse;
    core::PolicyPtr policy;     // by which it was judged; keeps `rule` alive
    policy::Attempt attempt;    // what is known, without a request
    std::string_view rule;      // id of the rule, or of what else refused it
    policy::Decision decision;  // meaningless when something else than a rule refused it
    std::string bytes;          // what the program has sent already

    [[nodiscard]] const std::string& host() const;  // "" when it has none
};

// Judges one connection of a sandbox before anything leaves. Looks at the first bytes only when a rule asks for a name or a request.
class Gate {
public:
    // Addresses of a name by our own resolver, empty when the sandbox may not know them.
    using Lookup = std::function<Task<std::vector<IpAddress>>(std::string name)>;

    // `policy` is the one in force, which may change while a connection is looked at. All outlive this.
    Gate(Shared& shared, const core::PolicyPtr& policy, const Pins& pins, Lookup lookup)
        : shared_{shared}, policy_{policy}, pins_{pins}, lookup_{std::move(lookup)} {}

    // Judges as far as the address and its pinned names tell: for connections that exist.
    [[nodiscard]] Task<Passage> judge(AsyncFd& inside, Destination to) const;
    // The same for a connection that has passed, under the policy now in force; true when it may go on.
    [[nodiscard]] bool still_passes(const Passage& passage) const;

private:
    Task<bool> look(AsyncFd& inside, Passage& passage) const;
    Task<bool> stands_for(const std::string& name, const IpAddress& address) const;
    [[nodiscard]] bool decide(Passage& passage) const;
    [[nodiscard]] bool passes_by_pin(Passage& passage) const;

    Shared& shared_;
    const core::PolicyPtr& policy_;
    const Pins& pins_;
    Lookup lookup_;
};

}  // namespace oyat::egress
