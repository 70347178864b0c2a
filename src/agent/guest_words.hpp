#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agent/status.hpp"

// What the host tells a virtual machine about itself before it runs. Pure.
namespace oyat::agent {

struct GuestWords {
    std::uint64_t generation = 0;  // oyat.generation=N
    std::string id;                // oyat.id=NAME, the host name
};

// Of the kernel's command line; words that are not ours are others' business.
[[nodiscard]] Answer<GuestWords> parse_guest_words(std::string_view command_line);

// The names in /m/order, a line each. A name that leads out of /m is none.
[[nodiscard]] std::vector<std::string> parse_module_order(std::string_view text);

}  // namespace oyat::agent
