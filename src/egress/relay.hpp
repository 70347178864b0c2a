#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "egress/budgets.hpp"
#include "io/async_fd.hpp"
#include "io/gate.hpp"
#include "io/timer.hpp"

namespace oyat::egress {

// Ends a connection so that the other side sees "connection reset" at once, now or when it is closed.
void reset_on_close(int socket) noexcept;
// Ends it in order again: what is on its way still arrives.
void finish_on_close(int socket) noexcept;

// Carries bytes between two connected sockets until both directions have ended. The end of one direction is
// passed on alone (half-close). What cannot be written yet stays in the kernel's receive buffer: a stalled
// connection costs us no memory, and its sender waits.
class Relay {
public:
    struct Limits {
        Millis idle;
        Millis half_closed;
    };
    // Hears what has passed: how long to wait before the next. What it throws ends the connection.
    using Toll = std::function<std::chrono::nanoseconds(Budgets::Direction direction, std::uint64_t bytes)>;
    // `passage` is lent for the moment between a read and the write after it.
    Relay(AsyncFd inside, AsyncFd outside, Limits limits, std::span<char> passage, Toll toll);

    // `first` was read from the sandbox already. Throws Error when a side broke, was cut, or nothing moved
    // for too long; both sides are then reset.
    Task<> run(std::string first = {});
    // Resets both sides now; run() ends.
    void cut() noexcept;

    [[nodiscard]] std::uint64_t up() const noexcept { return up_; }      // bytes that left the sandbox
    [[nodiscard]] std::uint64_t down() const noexcept { return down_; }  // bytes that came in
    [[nodiscard]] bool was_idle() const noexcept { return was_idle_; }

private:
    Task<> direction(AsyncFd& from, AsyncFd& to, std::uint64_t& moved);
    Task<> send_first(std::string bytes);
    Task<> pump(AsyncFd& from, AsyncFd& to, std::uint64_t& moved);
    void touch();

    AsyncFd inside_;
    AsyncFd outside_;
    Limits limits_;
    std::span<char> passage_;
    Toll toll_;
    Timer idle_;
    Gate both_ended_;
    int ended_ = 0;
    std::uint64_t up_ = 0;
    std::uint64_t down_ = 0;
    bool was_idle_ = false;
};

}  // namespace oyat::egress
