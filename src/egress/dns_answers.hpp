#pragma once

#include <vector>

#include "egress/destinations.hpp"
#include "egress/dns_message.hpp"

namespace oyat::egress::dns {

// Lifetimes that sandboxes are told: 30..300 s, so that none asks for ever and none is judged by old names.
[[nodiscard]] std::uint32_t clamped_ttl(std::uint32_t ttl);

// What of an upstream's reply a sandbox is given.
struct Selection {
    std::vector<Record> records{};
    std::vector<IpAddress> addresses{};  // of the A records among them
    // Records that pointed to where no sandbox may go: addresses (DNS rebinding), or aliases to names that
    // are never asked for.
    std::size_t withheld = 0;
};

// Follows the chain of aliases from the question and takes only what answers it; lifetimes are
// clamped. invalid_argument: the reply answers another question, or its aliases go on for more than
// eight.
[[nodiscard]] Result<Selection> select_answers(const Question& question, const Reply& reply,
                                               const Destinations& destinations);

}  // namespace oyat::egress::dns
