#pragma once

#include <cstdint>
#include <string>

namespace oyat::core {

// What a key may do. `admin` includes all others.
enum class Scope : std::uint8_t { run = 1, read = 2, debug = 4, admin = 8 };

// Who asks, as the record shows it. Made by `auth` from a key, completed by the front end.
struct Principal {
    std::string key_id;  // "key_..." never the key itself
    std::string tenant;
    std::uint8_t scopes = 0;
    std::string client;    // "e2b-js-sdk/2.51.0": what the client says of itself, at most 128 bytes
    std::string protocol;  // "e2b", "native"

    [[nodiscard]] bool may(Scope scope) const {
        return (scopes & (static_cast<std::uint8_t>(scope) | static_cast<std::uint8_t>(Scope::admin))) != 0;
    }
};

}  // namespace oyat::core
