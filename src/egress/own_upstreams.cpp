#include "egress/own_upstreams.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace oyat::egress {
namespace {

// A server that ended an idle connection, or speaks unasked, is not asked again on it.
bool is_quiet(int socket) {
    char byte = 0;
    return ::recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

}  // namespace

OwnUpstreams::Lease::Lease(Lease&& other) noexcept
    : owner_{std::exchange(other.owner_, nullptr)},
      connection_{std::move(other.connection_)},
      socket_{other.socket_} {}

OwnUpstreams::Lease::~Lease() {
    if (owner_ == nullptr) return;
    --owner_->lent_;
    if (connection_->reusable) owner_->kept_.push_back({std::move(connection_), socket_});
    owner_->returned_.notify_one();
}

Task<OwnUpstreams::Lease> OwnUpstreams::take(http::TlsProtocols offered) {
    while (lent_ >= most_) co_await returned_.wait();
    ++lent_;
    while (offered == http::TlsProtocols::http1 && !kept_.empty()) {
        Kept kept = std::move(kept_.back());
        kept_.pop_back();
        if (is_quiet(kept.socket)) co_return Lease{*this, std::move(kept.connection), kept.socket};
    }
    // Gives its place back when connecting fails.
    Lease lease{*this, std::make_unique<http::UpstreamConnection>(), -1};
    Connected connected = co_await connect_(offered);
    lease.connection_->stream = std::move(connected.stream);
    lease.connection_->http2 = connected.http2;
    lease.socket_ = connected.socket;
    co_return lease;
}

}  // namespace oyat::egress
