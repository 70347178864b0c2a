#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "io/ip_address.hpp"

// SOCKS version 5 (RFC 1928) and its user names (RFC 1929): bytes in, bytes out, from both sides.
namespace oyat::egress::socks {

enum class Reply : std::uint8_t {
    ok = 0,
    failure = 1,
    not_allowed = 2,
    unreachable = 4,
    refused = 5,
    unknown_command = 7,
    unknown_address_type = 8
};
[[nodiscard]] std::string_view to_string(Reply reply) noexcept;

// Where a client wants to go: one of both.
struct Target {
    std::string name;  // as sent, unchecked
    std::optional<IpAddress> address;
    std::uint16_t port = 0;
};

// The front of a client's bytes, as far as it is there.
template <class T>
struct Parsed {
    enum class State { incomplete, done, broken } state = State::incomplete;
    std::size_t size = 0;  // bytes that it took
    T value{};
};

// --- as a server
struct Greeting {
    bool without_login = false;  // the client can do without a login
};
[[nodiscard]] Parsed<Greeting> parse_greeting(std::string_view bytes);
struct Request {
    Reply problem = Reply::ok;  // otherwise the target says nothing
    Target target;
};
[[nodiscard]] Parsed<Request> parse_request(std::string_view bytes);
inline constexpr std::string_view kNoLogin{"\5\0", 2}, kNoMethod{"\5\xff", 2};
[[nodiscard]] std::string write_reply(Reply reply);

// --- as a client
[[nodiscard]] std::string write_greeting(bool with_login);
[[nodiscard]] std::string write_login(std::string_view user,
                                      std::string_view password);  // at most 255 bytes each
[[nodiscard]] std::string write_request(const Target& target);
[[nodiscard]] Parsed<Reply> parse_reply(std::string_view bytes);

}  // namespace oyat::egress::socks
