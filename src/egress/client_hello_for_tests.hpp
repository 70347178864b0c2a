#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

// Hellos of TLS clients, byte by byte, for the tests of this room.
namespace oyat::egress::testing {

using namespace std::string_literals;

inline std::string sized(std::size_t width, std::string_view body) {
    std::string bytes;
    for (std::size_t i = width; i-- > 0;) bytes += static_cast<char>(body.size() >> (8 * i));
    return bytes.append(body);
}

inline std::string extension(unsigned type, std::string_view body) {
    return std::string{static_cast<char>(type >> 8), static_cast<char>(type)} + sized(2, body);
}

inline std::string server_names(const std::vector<std::string_view>& names) {
    std::string list;
    for (const std::string_view name : names) list += '\0' + sized(2, name);
    return extension(0, sized(2, list));
}

inline std::string server_name(std::string_view name) {
    return server_names({name});
}

// In handshake records of at most `piece` bytes.
inline std::string records(std::string_view handshake, std::size_t piece = 16 * 1024) {
    std::string bytes;
    for (; !handshake.empty(); handshake.remove_prefix(std::min(piece, handshake.size()))) {
        bytes += "\x16\3\1"s + sized(2, handshake.substr(0, piece));
    }
    return bytes;
}

inline std::string hello(std::string_view extensions, std::size_t piece = 16 * 1024) {
    std::string body =
        "\3\3"s + std::string(32, 'r') + sized(1, "session") + sized(2, "\x13\1") + sized(1, "\0"s);
    if (!extensions.empty()) body += sized(2, extensions);
    return records("\1"s + sized(3, body), piece);
}

}  // namespace oyat::egress::testing
