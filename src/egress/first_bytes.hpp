#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace oyat::egress {

// What the first bytes that a program sends say of its connection.
struct FirstBytes {
    // As many are looked at: hellos with post-quantum keys have about 2 KiB.
    static constexpr std::size_t kMost = 16 * 1024;

    enum class Kind {
        incomplete,  // more bytes are needed to tell
        tls,
        http,   // HTTP/1.x in clear
        other,  // neither
        refused
    };
    Kind kind = Kind::incomplete;
    std::string name;      // of tls: the server name in canonical form, "" when the hello has none
    std::string_view why;  // of refused: a short word for the record
};

// Pure and strict (threats E-04): a hello that two readers could understand differently is refused. Of a
// hello with an encrypted inner one (RFC 9849) the outer name is what is told: keys for an inner one are
// never handed out by our name server, and browsers always send such an extension, filled with noise.
[[nodiscard]] FirstBytes look_at(std::string_view bytes);

}  // namespace oyat::egress
