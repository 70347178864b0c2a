#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "http/exchange.hpp"

namespace oyat::http {

using Handler = std::function<Task<>(Exchange&)>;

struct ServerOptions {
    std::size_t max_head_bytes = 64 * 1024;
    Millis head_timeout{10'000};    // from the first byte of a head to its end
    Millis idle_timeout{310'000};   // a kept-alive connection without a request (the Python SDK keeps 300 s)
    Millis body_timeout{30'000};    // between two bytes of a body
    Millis write_timeout{600'000};  // for one write: a reader may pause, but not hold us for ever
    std::size_t max_connections = 16'384;
    std::size_t max_connections_per_peer = 16'384;
    std::size_t max_streams = 128;  // requests at a time on one connection of HTTP/2
};

// HTTP server on any number of listeners of one loop. Requests that are malformed are answered 400 and
// the connection closed; an Error thrown by the handler before start() becomes a 500 with
// {"code":500,"message":"..."}, after start() an abort. Over TLS, ALPN chooses HTTP/2 or 1.1;
// without TLS there is only HTTP/1.1.
class Server {
public:
    Server(Executor executor, Handler handler, ServerOptions options = {});
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    // Binds and listens. Port 0 takes a free one; returns the port. Throws Error when it can't.
    std::uint16_t listen(const std::string& address, std::uint16_t port);
    std::uint16_t listen_tls(const std::string& address, std::uint16_t port,
                             const std::string& certificate_pem, const std::string& key_pem);
    void listen_unix(const std::string& path, unsigned mode);

    // Stops accepting, lets running exchanges end for `grace`, then cuts them. To be awaited before
    // destruction.
    Task<> close(std::chrono::milliseconds grace);

    [[nodiscard]] std::size_t connections() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace oyat::http
