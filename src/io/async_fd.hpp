#pragma once

#include <memory>

#include "base/fd.hpp"
#include "io/task.hpp"

namespace oyat {

// Owns a descriptor that can be polled (socket, pipe, pty, pidfd, eventfd, signalfd) and waits until it is
// ready. The descriptor is set non-blocking; reading and writing stay plain system calls of the owner:
//
//     while ((n = ::recv(fd.get(), ...)) < 0 && errno == EAGAIN) co_await fd.readable();
//
// One waiter for each direction at a time. A descriptor may be in one AsyncFd only: dup(2) it for a second.
class AsyncFd {
public:
    AsyncFd(Executor executor, Fd fd);
    AsyncFd(AsyncFd&&) noexcept;
    AsyncFd& operator=(AsyncFd&&) noexcept;
    ~AsyncFd();

    [[nodiscard]] int get() const noexcept;  // -1 after close()
    [[nodiscard]] Executor executor() const;

    // Returns when a read (write) would not block, which includes the end of the stream and errors. Throws
    // Error{unavailable} when close() is called meanwhile or was before.
    Task<> readable();
    Task<> writable();

    // Closes the descriptor now; those who wait fail.
    void close() noexcept;
    // Gives the descriptor back, still non-blocking. Nobody may be waiting.
    [[nodiscard]] Fd release();

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;  // shared with those who wait: they outlive close() by one turn of the loop
};

// Waits once on a descriptor that somebody else owns, by way of a duplicate.
Task<> wait_readable(int fd);
Task<> wait_writable(int fd);

}  // namespace oyat
