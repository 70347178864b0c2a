#include "egress/explicit_proxy.hpp"

#include <sys/socket.h>

#include <array>
#include <charconv>

#include "base/throwing.hpp"

namespace oyat::egress {
namespace {

constexpr std::size_t kMostSocks = 600;  // a greeting and a request with the longest name

// "a.test:443", "[2001:db8::1]:443"
std::optional<socks::Target> parse_authority(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    socks::Target target;
    const std::string_view digits = text.substr(colon + 1);
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), target.port);
    if (problem != std::errc{} || end != digits.data() + digits.size() || target.port == 0)
        return std::nullopt;
    std::string_view host = text.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    if (const Result<IpAddress> address = IpAddress::parse(host)) {
        target.address = *address;
    } else {
        target.name = host;
    }
    return target;
}

}  // namespace

ConnectHead parse_connect(std::string_view bytes) {
    using State = ConnectHead::State;
    const std::size_t end = bytes.find("\r\n\r\n");
    if (end == std::string_view::npos)
        return {.state = bytes.size() < ConnectHead::kMost ? State::incomplete : State::broken};
    const std::string_view line = bytes.substr(0, bytes.find("\r\n"));
    constexpr std::string_view kMethod = "CONNECT ";
    if (!line.starts_with(kMethod)) return {.state = State::other_method};
    if (!line.ends_with(" HTTP/1.1") && !line.ends_with(" HTTP/1.0")) return {.state = State::broken};
    constexpr std::size_t kVersion = std::string_view{" HTTP/1.1"}.size();
    if (line.size() <= kMethod.size() + kVersion) return {.state = State::broken};
    const std::optional<socks::Target> target =
        parse_authority(line.substr(kMethod.size(), line.size() - kMethod.size() - kVersion));
    if (!target) return {.state = State::broken};
    return {.state = State::done, .size = end + 4, .target = *target};
}

Task<std::optional<socks::Target>> ExplicitProxy::target() {
    return kind_ == Kind::http ? http_target() : socks_target();
}

Task<std::optional<socks::Target>> ExplicitProxy::http_target() {
    using State = ConnectHead::State;
    for (;;) {
        ConnectHead head = parse_connect(bytes_);
        switch (head.state) {
            case State::incomplete: break;
            case State::done: bytes_.erase(0, head.size); co_return std::move(head.target);
            case State::other_method:
                co_await send(
                    "HTTP/1.1 405 Method Not Allowed\r\nAllow: CONNECT\r\nConnection: "
                    "close\r\nContent-Length: 0\r\n\r\n");
                co_return std::nullopt;
            case State::broken:
                co_await send("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
                co_return std::nullopt;
        }
        if (!co_await read_more()) co_return std::nullopt;
    }
}

Task<std::optional<socks::Target>> ExplicitProxy::socks_target() {
    using Greeting = socks::Parsed<socks::Greeting>;
    using Request = socks::Parsed<socks::Request>;
    Greeting greeting;
    while ((greeting = socks::parse_greeting(bytes_)).state == Greeting::State::incomplete) {
        if (!co_await read_more()) co_return std::nullopt;
    }
    if (greeting.state == Greeting::State::broken) co_return std::nullopt;
    bytes_.erase(0, greeting.size);
    co_await send(std::string{greeting.value.without_login ? socks::kNoLogin : socks::kNoMethod});
    if (!greeting.value.without_login) co_return std::nullopt;
    Request request;
    while ((request = socks::parse_request(bytes_)).state == Request::State::incomplete) {
        if (bytes_.size() > kMostSocks || !co_await read_more()) co_return std::nullopt;
    }
    if (request.state == Request::State::broken) co_return std::nullopt;
    if (request.value.problem != socks::Reply::ok) {
        co_await refuse(request.value.problem, {});
        co_return std::nullopt;
    }
    bytes_.erase(0, request.size);
    co_return std::move(request.value.target);
}

Task<> ExplicitProxy::accept() {
    return send(kind_ == Kind::http ? "HTTP/1.1 200 Connection established\r\n\r\n"
                                    : socks::write_reply(socks::Reply::ok));
}

Task<> ExplicitProxy::refuse(socks::Reply reply, std::string_view why) {
    if (kind_ == Kind::socks) return send(socks::write_reply(reply));
    const std::string body = "oyat: " + std::string{why} + "\n";
    const std::string_view status = reply == socks::Reply::not_allowed ? "403 Forbidden" : "502 Bad Gateway";
    return send("HTTP/1.1 " + std::string{status} +
                "\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: " +
                std::to_string(body.size()) + "\r\n\r\n" + body);
}

Task<bool> ExplicitProxy::read_more() {
    std::array<char, 2048> buffer;
    for (;;) {
        const ssize_t n = ::recv(inside_.get(), buffer.data(), buffer.size(), 0);
        if (n < 0 && errno == EAGAIN) {
            co_await inside_.readable();
            continue;
        }
        if (sys(n, "read") == 0) co_return false;
        bytes_.append(buffer.data(), static_cast<std::size_t>(n));
        co_return true;
    }
}

Task<> ExplicitProxy::send(std::string bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t n = ::send(inside_.get(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN) {
            co_await inside_.writable();
            continue;
        }
        done += static_cast<std::size_t>(sys(n, "write"));
    }
}

}  // namespace oyat::egress
