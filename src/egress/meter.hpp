#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>

#include "egress/pace.hpp"
#include "io/async_fd.hpp"
#include "io/stream.hpp"
#include "io/timer.hpp"

namespace oyat::egress {

// The sockets of one connection that is read: counts what leaves the sandbox and what comes in, holds it to
// the sandbox's pace, notices when nothing moves, and ends all of them at once.
class Meter {
public:
    // `pace` outlives this, and this outlives its streams.
    Meter(Executor executor, Pace& pace, const Clock& clock, Millis idle_limit);
    Meter(const Meter&) = delete;
    Meter& operator=(const Meter&) = delete;

    [[nodiscard]] std::unique_ptr<Stream> inside(Fd socket);
    [[nodiscard]] std::unique_ptr<Stream> outside(std::unique_ptr<Stream> connected);

    // Resets all sockets, also those that are still to come.
    void cut() noexcept;

    // On the wire, towards and from the world, with what TLS adds.
    [[nodiscard]] std::uint64_t up() const noexcept { return up_; }
    [[nodiscard]] std::uint64_t down() const noexcept { return down_; }
    [[nodiscard]] bool was_idle() const noexcept { return was_idle_; }
    // Called after each move with what moved: how long to wait before the next. May cut.
    using Toll = std::function<std::chrono::nanoseconds(std::uint64_t up, std::uint64_t down)>;
    void on_moved(Toll toll) { moved_ = std::move(toll); }

private:
    class Metered;

    std::unique_ptr<Stream> metered(std::unique_ptr<Stream> socket, bool counted);
    Task<> count(std::uint64_t up, std::uint64_t down);
    void touch() {
        if (!cut_) idle_.arm(idle_limit_);
    }

    Executor executor_;
    Pace& pace_;
    const Clock& clock_;
    Millis idle_limit_;
    Timer idle_;
    std::set<Metered*> streams_;
    Toll moved_;
    std::uint64_t up_ = 0;
    std::uint64_t down_ = 0;
    bool was_idle_ = false;
    bool cut_ = false;
};

}  // namespace oyat::egress
