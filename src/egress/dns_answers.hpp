#pragma once

#include <vector>

#include "egress/destinations.hpp"
#include "egress/dns_message.hpp"

namespace oyat::egress::dns {

// What of an upstream's reply a sandbox is given.
struct Selection {
    std::vector<Record> records;
    std::vector<IpAddress> addresses;  // of the A records among them
    std::size_t withheld = 0;          // A records that pointed to where no sandbox may go (DNS rebinding)
};

// Follows the chain of aliases from the question and takes only what answers it; lifetimes are clamped
// to 30..300 s. invalid_argument: the reply answers another question, or its aliases go on for more than
// eight.
[[nodiscard]] Result<Selection> select_answers(const Question& question, const Reply& reply,
                                               const Destinations& destinations);

}  // namespace oyat::egress::dns
