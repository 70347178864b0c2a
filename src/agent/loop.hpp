#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/fd.hpp"

struct epoll_event;

// The agent's only thread. Waits for descriptors and deadlines, and between them runs long jobs in short
// steps, so that a command starts within milliseconds while a hundred thousand files are being listed. An
// idle agent sleeps without any timer.
namespace oyat::agent {

class Readiness;
class Timer;
class Steps;
class IdleHook;

// Something that may only be destroyed when nothing of it is on the stack; see Loop::bury.
class Mortal {
public:
    virtual ~Mortal() = default;
};

// Milliseconds of CLOCK_MONOTONIC, and Unix milliseconds.
[[nodiscard]] std::int64_t mono_ms();
[[nodiscard]] std::int64_t unix_ms();

class Loop {
public:
    static constexpr std::size_t kScratch = 64 * 1024;

    Loop();
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;
    ~Loop();

    [[noreturn]] void run();

    // Destroys the object at the end of the turn.
    void bury(std::unique_ptr<Mortal> object) { graves_.push_back(std::move(object)); }

    // kScratch bytes for whoever has the turn. Its pages go back to the kernel when the agent falls idle.
    [[nodiscard]] char* scratch() {
        worked_ = true;
        return scratch_;
    }

private:
    friend class Readiness;
    friend class Timer;
    friend class Steps;
    friend class IdleHook;

    void turn();
    void run_timers();
    void run_steps();
    int wait_ms();
    void fall_idle();

    Fd epoll_;
    char* scratch_ = nullptr;
    bool worked_ = false;  // memory may be held that an idle agent does not need
    std::multimap<std::int64_t, Timer*> timers_;
    std::vector<Steps*> steps_;
    std::vector<IdleHook*> idle_hooks_;
    std::vector<std::unique_ptr<Mortal>> graves_;
    epoll_event* batch_ = nullptr;  // events of this turn that have not been handled yet
    std::size_t batch_left_ = 0;
};

// One descriptor in the loop. Takes part only while it is armed: epoll would report the hang-up of a pipe for
// ever, also to somebody who asks for nothing.
class Readiness {
public:
    Readiness(Loop& loop, std::function<void(std::uint32_t events)> callback)
        : loop_{loop}, callback_{std::move(callback)} {}
    Readiness(const Readiness&) = delete;
    Readiness& operator=(const Readiness&) = delete;
    ~Readiness() { disarm(); }

    // `fd` is borrowed: disarm before it is closed. EPOLLHUP and EPOLLERR come unasked.
    void arm(int fd, std::uint32_t events);
    void disarm();

private:
    friend class Loop;
    Loop& loop_;
    std::function<void(std::uint32_t)> callback_;
    int fd_ = -1;
    std::uint32_t events_ = 0;
};

// Calls back once, `ms` after start.
class Timer {
public:
    Timer(Loop& loop, std::function<void()> callback) : loop_{loop}, callback_{std::move(callback)} {}
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;
    ~Timer() { stop(); }

    void start(std::int64_t ms);
    void stop();
    [[nodiscard]] bool running() const { return running_; }

private:
    friend class Loop;
    Loop& loop_;
    std::function<void()> callback_;
    std::multimap<std::int64_t, Timer*>::iterator place_{};
    bool running_ = false;
};

// A long job: while resumed, `step` is called once a turn and must return within about a millisecond.
class Steps {
public:
    Steps(Loop& loop, std::function<void()> step) : loop_{loop}, step_{std::move(step)} {}
    Steps(const Steps&) = delete;
    Steps& operator=(const Steps&) = delete;
    ~Steps() { pause(); }

    void resume();
    void pause();

private:
    friend class Loop;
    Loop& loop_;
    std::function<void()> step_;
    bool running_ = false;
};

// Called when there has been nothing to do for a while: the moment to give buffers back.
class IdleHook {
public:
    IdleHook(Loop& loop, std::function<void()> callback);
    IdleHook(const IdleHook&) = delete;
    IdleHook& operator=(const IdleHook&) = delete;
    ~IdleHook();

private:
    friend class Loop;
    Loop& loop_;
    std::function<void()> callback_;
};

}  // namespace oyat::agent
