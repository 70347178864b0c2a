#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>

#include "base/clock.hpp"
#include "base/fd.hpp"

namespace oyat::keeper {

// The keeper's only loop: descriptors that became ready, and timers, one handler at a time. Single-threaded,
// because setns and the working directory belong to the whole process.
class Loop {
public:
    using Handler = std::function<void(std::uint32_t events)>;
    using Callback = std::function<void()>;
    using TimerId = std::uint64_t;

    Loop();
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    // Level-triggered. The descriptor stays its owner's, who calls `forget` before closing it; a handler may
    // forget any descriptor, its own included.
    void watch(int fd, Handler handler, std::uint32_t events = EPOLLIN);
    void change(int fd, std::uint32_t events);
    void forget(int fd) noexcept;

    TimerId after(Millis delay, Callback callback);
    void cancel(TimerId timer) noexcept;

    // Until stop() is called from a handler.
    void run();
    void stop() noexcept { stopping_ = true; }

private:
    void run_due_timers();
    [[nodiscard]] int wait_ms() const;

    Fd epoll_;
    std::unordered_map<int, std::shared_ptr<Handler>> handlers_;
    std::map<std::pair<MonoTime, TimerId>, Callback> timers_;
    std::unordered_map<TimerId, MonoTime> due_;
    TimerId last_timer_ = 0;
    bool stopping_ = false;
};

}  // namespace oyat::keeper
