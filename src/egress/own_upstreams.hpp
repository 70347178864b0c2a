#pragma once

#include <functional>
#include <list>
#include <memory>

#include "http/tls.hpp"
#include "http/upstream_exchange.hpp"
#include "io/condition.hpp"

namespace oyat::egress {

// The connections that one connection of a sandbox has to the address that was judged: one for each request
// under way, kept for the next. Never lent to anybody else (threats C-05).
class OwnUpstreams {
public:
    struct Connected {
        std::unique_ptr<Stream> stream;
        int socket = -1;  // below the stream
        bool http2 = false;
    };
    using Connect = std::function<Task<Connected>(http::TlsProtocols offered)>;

    OwnUpstreams(Connect connect, std::size_t most) : connect_{std::move(connect)}, most_{most} {}

    // A connection for the time of one exchange. It is kept when that left it reusable.
    class Lease {
    public:
        Lease(Lease&& other) noexcept;
        Lease& operator=(Lease&&) = delete;
        ~Lease();
        [[nodiscard]] http::UpstreamConnection& operator*() const { return *connection_; }
        [[nodiscard]] http::UpstreamConnection* operator->() const { return connection_.get(); }

    private:
        friend class OwnUpstreams;
        Lease(OwnUpstreams& owner, std::unique_ptr<http::UpstreamConnection> connection, int socket)
            : owner_{&owner}, connection_{std::move(connection)}, socket_{socket} {}

        OwnUpstreams* owner_;
        std::unique_ptr<http::UpstreamConnection> connection_;
        int socket_;
    };
    // Waits while as many as may be are lent. Throws what connecting throws. With HTTP/2 offered it is a new
    // one, which the server may speak that on.
    Task<Lease> take(http::TlsProtocols offered = http::TlsProtocols::http1);
    // Ends those that wait for the next exchange.
    void close() noexcept { kept_.clear(); }

private:
    struct Kept {
        std::unique_ptr<http::UpstreamConnection> connection;
        int socket;
    };

    Connect connect_;
    std::size_t most_;
    std::size_t lent_ = 0;
    std::list<Kept> kept_;
    Condition returned_;
};

}  // namespace oyat::egress
