#include "io/stream.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/error.hpp"
#include "io/async_fd.hpp"
#include "io/timer.hpp"

namespace oyat {
namespace {

// After so many calls in a row that never had to wait, a stream lets others run: a fast peer must not own the
// loop.
constexpr int kTurns = 16;

constexpr std::size_t kMaxParts = 16;

// EPIPE, ECONNRESET and their kin are one thing to a caller: the connection is no more.
Error gone(int err, std::string_view what) {
    return Error{Errc::unavailable, errno_error(err, what).message()};
}

class SocketStream final : public Stream {
public:
    SocketStream(Executor executor, Fd socket) : socket_{std::move(executor), std::move(socket)} {}

    Task<std::size_t> read_some(std::span<char> into) override {
        if (++reads_in_a_row_ > kTurns) {
            reads_in_a_row_ = 0;
            co_await yield_now();
        }
        for (;;) {
            if (socket_.get() < 0) throw Error{Errc::unavailable, "read: connection closed"};
            const ssize_t got = ::recv(socket_.get(), into.data(), into.size(), 0);
            if (got >= 0) co_return static_cast<std::size_t>(got);
            if (errno == EAGAIN) {
                reads_in_a_row_ = 0;
                co_await socket_.readable();
            } else if (errno != EINTR) {
                throw gone(errno, "read");
            }
        }
    }

    Task<> write_all(std::string_view bytes) override {
        const std::array<std::string_view, 1> parts{bytes};
        co_await write_parts(parts);
    }

    Task<> write_parts(std::span<const std::string_view> parts) override {
        if (++writes_in_a_row_ > kTurns) {
            writes_in_a_row_ = 0;
            co_await yield_now();
        }
        while (!parts.empty()) {
            const auto now = parts.first(std::min(parts.size(), kMaxParts));
            co_await send(now);
            parts = parts.subspan(now.size());
        }
    }

    void shutdown_read() override {
        if (socket_.get() >= 0) ::shutdown(socket_.get(), SHUT_RD);
    }

    void shutdown_write() override {
        if (socket_.get() >= 0) ::shutdown(socket_.get(), SHUT_WR);
    }

    void close() override { socket_.close(); }

    [[nodiscard]] int native_fd() const override { return socket_.get(); }

private:
    Task<> send(std::span<const std::string_view> parts) {
        std::array<iovec, kMaxParts> pieces;
        std::size_t count = 0;
        for (const std::string_view part : parts) {
            if (!part.empty()) pieces[count++] = {const_cast<char*>(part.data()), part.size()};
        }
        std::size_t first = 0;
        while (first < count) {
            if (socket_.get() < 0) throw Error{Errc::unavailable, "write: connection closed"};
            const msghdr message{.msg_iov = &pieces[first], .msg_iovlen = count - first};
            const ssize_t sent = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
            if (sent < 0) {
                if (errno == EAGAIN) {
                    writes_in_a_row_ = 0;
                    co_await socket_.writable();
                } else if (errno != EINTR) {
                    throw gone(errno, "write");
                }
                continue;
            }
            auto left = static_cast<std::size_t>(sent);
            while (first < count && left >= pieces[first].iov_len) left -= pieces[first++].iov_len;
            if (left > 0) {
                pieces[first].iov_base = static_cast<char*>(pieces[first].iov_base) + left;
                pieces[first].iov_len -= left;
            }
        }
    }

    AsyncFd socket_;
    int reads_in_a_row_ = 0;
    int writes_in_a_row_ = 0;
};

}  // namespace

Task<> Stream::write_parts(std::span<const std::string_view> parts) {
    for (const std::string_view part : parts) co_await write_all(part);
}

std::unique_ptr<Stream> make_stream(Executor executor, Fd socket) {
    const int on = 1;
    // Fails on a unix socket, which has nothing to delay.
    (void)::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return std::make_unique<SocketStream>(std::move(executor), std::move(socket));
}

}  // namespace oyat
