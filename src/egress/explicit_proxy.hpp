#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "egress/socks.hpp"
#include "io/async_fd.hpp"
#include "io/task.hpp"

namespace oyat::egress {

// For programs that want to be told a proxy instead of being redirected: at this address inside each sandbox
// one answers HTTP CONNECT (RFC 9110, 9.3.6) and SOCKS5. What it is asked for takes the same way as any other
// connection.
inline constexpr std::uint32_t kProxyAddress = 0x0AFE0001;  // 10.254.0.1
inline constexpr std::uint16_t kHttpProxyPort = 3128, kSocksPort = 1080;

// A request "CONNECT host:port HTTP/1.1" with its fields, of at most 8 KiB. Pure and strict.
struct ConnectHead {
    static constexpr std::size_t kMost = 8 * 1024;
    enum class State { incomplete, done, other_method, broken } state = State::incomplete;
    std::size_t size = 0;
    socks::Target target;
};
[[nodiscard]] ConnectHead parse_connect(std::string_view bytes);

// The server's side of one connection to the proxy, until it is known where it wants to go.
class ExplicitProxy {
public:
    enum class Kind { http, socks };
    // `inside` outlives this.
    ExplicitProxy(Kind kind, AsyncFd& inside) : kind_{kind}, inside_{inside} {}

    // Nothing when the client asked for something else, which it has been told.
    Task<std::optional<socks::Target>> target();
    // Before bytes pass; afterwards the client speaks to its target.
    Task<> accept();
    Task<> refuse(socks::Reply reply, std::string_view why);
    // What the client has sent already behind its request.
    [[nodiscard]] std::string rest() { return std::move(bytes_); }

private:
    Task<std::optional<socks::Target>> http_target();
    Task<std::optional<socks::Target>> socks_target();
    Task<bool> read_more();
    Task<> send(std::string bytes);

    Kind kind_;
    AsyncFd& inside_;
    std::string bytes_;
};

}  // namespace oyat::egress
