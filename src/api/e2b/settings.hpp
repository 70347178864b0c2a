#pragma once

#include <cstdint>
#include <string>

#include "base/clock.hpp"

namespace oyat::e2b {

// What the operator decides about this front.
struct Settings {
    // The public name below which "<port>-<sandbox>.<domain>" reaches us, with its port unless that is 443.
    // Clients build links with it; "" when there is none, and then the field is left out and clients keep
    // their own idea.
    std::string domain;
    // The longest life of one run (create or resume to end) that a client may ask for.
    Millis longest_run = std::chrono::hours{24};
};

// The level of the in-sandbox agent's interface that this front implements; clients switch features on by it.
inline constexpr const char* kAgentLevel = "0.6.13";

inline constexpr std::uint16_t kAgentPort = 49983;

// Programs inside find a file's metadata as extended attributes user.e2b.KEY.
inline constexpr const char* kMetadataSpace = "e2b";

}  // namespace oyat::e2b
