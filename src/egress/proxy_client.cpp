#include "egress/proxy_client.hpp"

#include <openssl/evp.h>
#include <sys/socket.h>

#include "base/throwing.hpp"

namespace oyat::egress {
namespace {

constexpr std::size_t kMaxHead = 8 * 1024;

std::string to_base64(std::string_view bytes) {
    std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // and its final zero
    const int size =
        EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                        reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
    text.resize(static_cast<std::size_t>(size));
    return text;
}

Error refused_by_proxy(std::string_view what) {
    return {Errc::unavailable, Fault::upstream, "the proxy says: " + std::string{what}};
}

Task<> send_all(AsyncFd& proxy, std::string bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t n = ::send(proxy.get(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN) {
            co_await proxy.writable();
            continue;
        }
        done += static_cast<std::size_t>(sys(n, "write to the proxy"));
    }
}

// One byte at a time: what follows the answer is the server's, and a few hundred calls once are nothing.
Task<char> read_byte(AsyncFd& proxy) {
    for (;;) {
        char byte = 0;
        const ssize_t n = ::recv(proxy.get(), &byte, 1, 0);
        if (n < 0 && errno == EAGAIN) {
            co_await proxy.readable();
            continue;
        }
        if (sys(n, "read from the proxy") == 0) throw refused_by_proxy("nothing, it closed the connection");
        co_return byte;
    }
}

Task<std::string> read_bytes(AsyncFd& proxy, std::size_t count) {
    std::string bytes;
    while (bytes.size() < count) bytes += co_await read_byte(proxy);
    co_return bytes;
}

Task<> ask_socks(AsyncFd& proxy, const policy::Via& via, const socks::Target& target) {
    const bool login = !via.user.empty() || !via.password.empty();
    co_await send_all(proxy, socks::write_greeting(login));
    const std::string method = co_await read_bytes(proxy, 2);
    if (method[0] != 5) throw refused_by_proxy("not SOCKS5");
    if (method[1] == 2 && login) {
        co_await send_all(proxy, socks::write_login(via.user, via.password));
        if ((co_await read_bytes(proxy, 2))[1] != 0) throw refused_by_proxy("the login is wrong");
    } else if (method[1] != 0) {
        throw refused_by_proxy("it wants another login");
    }
    co_await send_all(proxy, socks::write_request(target));
    using Reply = socks::Parsed<socks::Reply>;
    std::string bytes;
    Reply reply;
    while ((reply = socks::parse_reply(bytes)).state == Reply::State::incomplete)
        bytes += co_await read_byte(proxy);
    if (reply.state == Reply::State::broken) throw refused_by_proxy("not SOCKS5");
    if (reply.value != socks::Reply::ok) throw refused_by_proxy(socks::to_string(reply.value));
}

std::string authority(const socks::Target& target) {
    const std::string host = target.address ? target.address->to_string() : target.name;
    const bool v6 = target.address && !target.address->is_v4();
    return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(target.port);
}

Task<> ask_http(AsyncFd& proxy, const policy::Via& via, const socks::Target& target) {
    const std::string place = authority(target);
    std::string request = "CONNECT " + place + " HTTP/1.1\r\nHost: " + place + "\r\n";
    if (!via.user.empty() || !via.password.empty()) {
        request += "Proxy-Authorization: Basic " + to_base64(via.user + ":" + via.password) + "\r\n";
    }
    co_await send_all(proxy, request + "\r\n");
    std::string head;
    while (!head.ends_with("\r\n\r\n")) {
        if (head.size() == kMaxHead) throw refused_by_proxy("a head without an end");
        head += co_await read_byte(proxy);
    }
    if (!head.starts_with("HTTP/1.") || head.size() < 12) throw refused_by_proxy("no HTTP");
    if (head[9] != '2') throw refused_by_proxy(head.substr(9, 3));
}

}  // namespace

Task<> ask_proxy(AsyncFd& proxy, const policy::Via& via, const socks::Target& target) {
    return via.kind == policy::Via::Kind::socks5 ? ask_socks(proxy, via, target)
                                                 : ask_http(proxy, via, target);
}

}  // namespace oyat::egress
