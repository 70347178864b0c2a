#include "http/server.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <list>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/defer.hpp"
#include "base/throwing.hpp"
#include "http/served_connection.hpp"
#include "http/tls.hpp"
#include "io/acceptor.hpp"
#include "io/listen.hpp"
#include "io/race.hpp"
#include "io/task_group.hpp"
#include "io/timer.hpp"

namespace oyat::http {
namespace {

// What accepted connections inherit from their listener: a peer that vanished without a word is noticed after
// about two minutes, and nothing is delayed.
void set_up_listener(int socket) {
    const auto set = [socket](int level, int name, int value) {
        (void)::setsockopt(socket, level, name, &value, sizeof value);  // a unix socket has none of these
    };
    set(SOL_SOCKET, SO_KEEPALIVE, 1);
    set(IPPROTO_TCP, TCP_KEEPIDLE, 60);
    set(IPPROTO_TCP, TCP_KEEPINTVL, 15);
    set(IPPROTO_TCP, TCP_KEEPCNT, 4);
    set(IPPROTO_TCP, TCP_NODELAY, 1);
}

}  // namespace

struct Server::Impl {
    Executor executor;
    Service service;
    std::list<Acceptor> acceptors;
    std::list<TlsContext> tls_contexts;
    std::list<ServedConnection*> connections;  // those that are being served, for close()
    std::size_t count = 0;                     // with those in a TLS handshake
    std::unordered_map<std::string, std::size_t> count_of_peer;
    TaskGroup accepting;
    TaskGroup serving;

    Impl(Executor e, Handler handler, ServerOptions options)
        : executor{e}, service{.handler = std::move(handler), .options = options}, accepting{e}, serving{e} {}

    // One of the connections that the server and its peer may have, given back by the destructor.
    class Seat {
    public:
        static std::optional<Seat> take(Impl& impl, std::string peer) {
            const auto found = impl.count_of_peer.find(peer);
            const std::size_t of_peer = found == impl.count_of_peer.end() ? 0 : found->second;
            if (impl.count >= impl.service.options.max_connections ||
                of_peer >= impl.service.options.max_connections_per_peer) {
                return std::nullopt;
            }
            ++impl.count;
            ++impl.count_of_peer[peer];
            return Seat{impl, std::move(peer)};
        }
        Seat(Seat&& other) noexcept
            : impl_{std::exchange(other.impl_, nullptr)}, peer_{std::move(other.peer_)} {}
        Seat& operator=(Seat&&) = delete;
        ~Seat() {
            if (impl_ == nullptr) return;
            --impl_->count;
            const auto found = impl_->count_of_peer.find(peer_);
            if (--found->second == 0) impl_->count_of_peer.erase(found);
        }

        [[nodiscard]] const std::string& peer() const { return peer_; }

    private:
        Seat(Impl& impl, std::string peer) : impl_{&impl}, peer_{std::move(peer)} {}
        Impl* impl_;
        std::string peer_;
    };

    int listen(Fd listener, TlsContext* tls) {
        set_up_listener(listener.get());
        Acceptor& acceptor = acceptors.emplace_back(executor, std::move(listener));
        accepting.spawn(accept_all(acceptor, tls));
        return acceptor.native_fd();
    }

    Task<> accept_all(Acceptor& acceptor, TlsContext* tls) {
        for (;;) {
            Acceptor::Connection accepted = co_await acceptor.accept();
            std::optional<Seat> seat = Seat::take(*this, accepted.peer.host());
            if (!seat) continue;  // closes it: at the limit not even an answer is spent
            serving.spawn(serve(make_stream(executor, std::move(accepted.socket)), *std::move(seat), tls));
        }
    }

    Task<> serve(std::unique_ptr<Stream> stream, Seat seat, TlsContext* tls) {
        Accepted accepted{.stream = nullptr, .peer = seat.peer(), .tls = tls != nullptr};
        if (tls == nullptr) {
            accepted.stream = std::move(stream);
        } else {
            try {
                TlsSession session = co_await with_timeout(service.options.head_timeout, "TLS handshake",
                                                           tls_accept(*tls, std::move(stream)));
                accepted.stream = std::move(session.stream);
                accepted.http2 = session.http2;
            } catch (const Error& e) {
                if (e.code() == Errc::canceled) throw;
                co_return;  // scanners and clients that don't trust us: nothing to report
            }
        }
        const auto connection = make_connection(executor, std::move(accepted), service);
        const auto self = connections.insert(connections.end(), connection.get());
        const Defer leaving{[this, self] { connections.erase(self); }};
        co_await connection->serve();
    }
};

Server::Server(Executor executor, Handler handler, ServerOptions options)
    : impl_{std::make_unique<Impl>(std::move(executor), std::move(handler), options)} {}

Server::~Server() = default;

std::uint16_t Server::listen(const std::string& address, std::uint16_t port) {
    Fd listener = listen_tcp(or_throw(SocketAddress::ip(address, port)));
    return local_address(impl_->listen(std::move(listener), nullptr)).port();
}

std::uint16_t Server::listen_tls(const std::string& address, std::uint16_t port,
                                 const std::string& certificate_pem, const std::string& key_pem) {
    TlsContext& context = impl_->tls_contexts.emplace_back(
        TlsContext::server(certificate_pem, key_pem, TlsProtocols::http1_and_http2));
    Fd listener = listen_tcp(or_throw(SocketAddress::ip(address, port)));
    return local_address(impl_->listen(std::move(listener), &context)).port();
}

void Server::listen_unix(const std::string& path, unsigned mode) {
    (void)impl_->listen(oyat::listen_unix(path, mode), nullptr);
}

Task<> Server::close(std::chrono::milliseconds grace) {
    co_await impl_->accepting.close();
    impl_->acceptors.clear();
    for (ServedConnection* connection : impl_->connections) connection->end_soon();
    if (impl_->serving.size() > 0) {
        co_await race(impl_->serving.wait_idle(), sleep_for(grace));
    }
    co_await impl_->serving.close();
}

std::size_t Server::connections() const {
    return impl_->count;
}

}  // namespace oyat::http
