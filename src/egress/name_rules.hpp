#pragma once

#include <string>
#include <string_view>

#include "egress/destinations.hpp"
#include "egress/dns_message.hpp"
#include "policy/policy.hpp"

namespace oyat::egress {

inline constexpr std::size_t kMaxNameBytes = 120;  // as text

// Whether anybody may be asked for the name, as far as the name alone tells: not names of the sandbox itself,
// of a cloud's metadata service, or of oyat.
[[nodiscard]] bool is_askable(std::string_view name);

// What is to be done with one question, before anybody is asked.
struct NameVerdict {
    enum class Action {
        ask,      // an upstream resolver
        own,      // a name of the sandbox itself: 127.0.0.1
        empty,    // the name may exist, but there is no record of this type (NODATA)
        blocked,  // NXDOMAIN with "blocked", so that programs fail at once and say why
        refused,
        unknown_operation
    };
    Action action = Action::ask;
    std::string_view reason;  // set for blocked and refused
};

// Pure. `own_name` is the sandbox's host name; names that no rule of the policy could allow are blocked. The
// verdict lives as long as the policy.
[[nodiscard]] NameVerdict judge_name(const dns::Query& query, std::string_view own_name,
                                     const policy::Policy& policy, const Destinations& destinations,
                                     WallTime now);

}  // namespace oyat::egress
