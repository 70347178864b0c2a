#pragma once

#include <string>
#include <string_view>

#include "egress/destinations.hpp"
#include "egress/dns_message.hpp"

namespace oyat::egress {

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

// Pure. `own_name` is the sandbox's host name; `internet` false blocks all names but its own.
[[nodiscard]] NameVerdict judge_name(const dns::Query& query, std::string_view own_name, bool internet,
                                     const Destinations& destinations);

}  // namespace oyat::egress
