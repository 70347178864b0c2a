#pragma once

#include <unistd.h>

#include <utility>

namespace oyat {

// Owns one open file descriptor and closes it. Move-only: exactly one owner at a time.
// Functions that merely use a descriptor take a plain `int`; functions that keep it take an `Fd` by value.
class Fd {
public:
    Fd() noexcept = default;
    explicit Fd(int fd) noexcept : fd_{fd} {}
    Fd(Fd&& other) noexcept : fd_{other.release()} {}
    Fd& operator=(Fd&& other) noexcept {
        reset(other.release());
        return *this;
    }
    ~Fd() { reset(); }

    [[nodiscard]] int get() const noexcept { return fd_; }
    [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }
    explicit operator bool() const noexcept { return fd_ >= 0; }

    // Never retries close(2): on Linux the descriptor is gone even after EINTR, and a retry
    // could close one that another thread has just been given.
    void reset(int fd = -1) noexcept {
        if (int old = std::exchange(fd_, fd); old >= 0) ::close(old);
    }

private:
    int fd_ = -1;
};

}  // namespace oyat
