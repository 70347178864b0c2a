#include "egress/relay.hpp"

#include <sys/socket.h>

#include "base/throwing.hpp"
#include "io/race.hpp"

namespace oyat::egress {
namespace {

// After so many reads in a row the other connections of the loop get their turn.
constexpr int kTurn = 16;

// Takes bytes that were only looked at out of the receive buffer, without copying them again (tcp(7),
// MSG_TRUNC).
void discard(int socket, std::size_t count) {
    while (count > 0) {
        const ssize_t n = sys(::recv(socket, nullptr, count, MSG_TRUNC), "read");
        if (n == 0) throw Error{Errc::internal, "bytes vanished from a receive buffer"};
        count -= static_cast<std::size_t>(n);
    }
}

}  // namespace

void reset_on_close(int socket) noexcept {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

void finish_on_close(int socket) noexcept {
    const linger orderly{};
    ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &orderly, sizeof orderly);
}

Relay::Relay(AsyncFd inside, AsyncFd outside, Limits limits, std::span<char> passage, Toll toll)
    : inside_{std::move(inside)},
      outside_{std::move(outside)},
      limits_{limits},
      passage_{passage},
      toll_{std::move(toll)},
      idle_{inside_.executor(), [this] {
                was_idle_ = true;
                cut();
            }} {}

Task<> Relay::run(std::string first) {
    touch();
    try {
        co_await send_first(std::move(first));
        co_await race(direction(inside_, outside_, up_), direction(outside_, inside_, down_));
    } catch (...) {
        cut();
        throw;
    }
    idle_.disarm();
    for (AsyncFd* side : {&inside_, &outside_}) {
        finish_on_close(side->get());
        side->close();
    }
}

void Relay::cut() noexcept {
    idle_.disarm();
    reset_on_close(inside_.get());
    reset_on_close(outside_.get());
    inside_.close();
    outside_.close();
}

Task<> Relay::send_first(std::string bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t sent = ::send(outside_.get(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) {
            co_await outside_.writable();
            continue;
        }
        done += static_cast<std::size_t>(sys(sent, "write"));
    }
    up_ += bytes.size();
    if (bytes.empty()) co_return;
    const std::chrono::nanoseconds wait = toll_(Budgets::Direction::up, bytes.size());
    if (wait.count() > 0) co_await sleep_for(wait);
}

// Does not return before the other direction has ended too: the race is over when its first task is.
Task<> Relay::direction(AsyncFd& from, AsyncFd& to, std::uint64_t& moved) {
    co_await pump(from, to, moved);
    if (++ended_ == 2) both_ended_.open();
    touch();
    co_await both_ended_.pass();
}

Task<> Relay::pump(AsyncFd& from, AsyncFd& to, std::uint64_t& moved) {
    for (int turn = 0;;) {
        const ssize_t seen = ::recv(from.get(), passage_.data(), passage_.size(), MSG_PEEK);
        if (seen < 0 && errno == EAGAIN) {
            co_await from.readable();
            continue;
        }
        if (sys(seen, "read") == 0) {
            ::shutdown(to.get(), SHUT_WR);
            co_return;
        }
        const ssize_t sent = ::send(to.get(), passage_.data(), static_cast<std::size_t>(seen), MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) {
            co_await to.writable();
            continue;
        }
        discard(from.get(), static_cast<std::size_t>(sys(sent, "write")));
        moved += static_cast<std::uint64_t>(sent);
        touch();
        const std::chrono::nanoseconds wait =
            toll_(&moved == &up_ ? Budgets::Direction::up : Budgets::Direction::down,
                  static_cast<std::uint64_t>(sent));
        if (wait.count() > 0) {
            co_await sleep_for(wait);
        } else if (++turn % kTurn == 0) {
            co_await yield_now();
        }
    }
}

void Relay::touch() {
    idle_.arm(ended_ == 0 ? limits_.idle : limits_.half_closed);
}

}  // namespace oyat::egress
