#include "agent/loop.hpp"

#include <malloc.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <time.h>

#include <algorithm>

#include "base/assert.hpp"

namespace oyat::agent {
namespace {

constexpr int kBatch = 32;
constexpr int kIdleAfterMs = 500;

std::int64_t now_ms(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace

std::int64_t mono_ms() {
    return now_ms(CLOCK_MONOTONIC);
}
std::int64_t unix_ms() {
    return now_ms(CLOCK_REALTIME);
}

Loop::Loop() : epoll_{::epoll_create1(EPOLL_CLOEXEC)} {
    OYAT_ASSERT(epoll_);
    void* memory = ::mmap(nullptr, kScratch, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    OYAT_ASSERT(memory != MAP_FAILED);
    scratch_ = static_cast<char*>(memory);
}

Loop::~Loop() {
    ::munmap(scratch_, kScratch);
}

void Loop::run() {
    while (true) turn();
}

void Loop::turn() {
    std::array<epoll_event, kBatch> events;
    const int wait = wait_ms();
    const int count = ::epoll_wait(epoll_.get(), events.data(), kBatch, wait);
    if (count == 0 && wait == kIdleAfterMs) fall_idle();
    batch_ = events.data();
    batch_left_ = count > 0 ? static_cast<std::size_t>(count) : 0;
    while (batch_left_ > 0) {
        const epoll_event event = *batch_++;
        --batch_left_;
        worked_ = true;
        if (auto* readiness = static_cast<Readiness*>(event.data.ptr)) readiness->callback_(event.events);
    }
    run_timers();
    run_steps();
    graves_.clear();
}

void Loop::run_timers() {
    if (timers_.empty()) return;
    const std::int64_t now = mono_ms();
    while (!timers_.empty() && timers_.begin()->first <= now) {
        Timer* timer = timers_.begin()->second;
        timer->stop();
        timer->callback_();
    }
}

void Loop::run_steps() {
    // A step may pause or destroy any other: then a null stands in its place until the end of the round.
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        if (steps_[i] != nullptr) steps_[i]->step_();
    }
    std::erase(steps_, nullptr);
}

int Loop::wait_ms() {
    if (!steps_.empty()) return 0;
    // After work, one short wait finds out whether the agent is idle; then it sleeps for good.
    int wait = worked_ ? kIdleAfterMs : -1;
    if (!timers_.empty()) {
        const std::int64_t left = std::clamp<std::int64_t>(timers_.begin()->first - mono_ms(), 0, 3'600'000);
        if (wait < 0 || left < wait) wait = static_cast<int>(left);
    }
    return wait;
}

void Loop::fall_idle() {
    worked_ = false;
    for (IdleHook* hook : idle_hooks_) hook->callback_();
    ::madvise(scratch_, kScratch, MADV_DONTNEED);
    ::malloc_trim(0);
}

void Readiness::arm(int fd, std::uint32_t events) {
    if (fd_ == fd && events_ == events) return;
    epoll_event event{.events = events, .data = {.ptr = this}};
    if (fd_ >= 0 && fd_ != fd) disarm();
    const int how = fd_ < 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    OYAT_ASSERT(::epoll_ctl(loop_.epoll_.get(), how, fd, &event) == 0);
    fd_ = fd;
    events_ = events;
}

void Readiness::disarm() {
    if (fd_ < 0) return;
    ::epoll_ctl(loop_.epoll_.get(), EPOLL_CTL_DEL, fd_, nullptr);
    fd_ = -1;
    events_ = 0;
    for (std::size_t i = 0; i < loop_.batch_left_; ++i) {
        if (loop_.batch_[i].data.ptr == this) loop_.batch_[i].data.ptr = nullptr;
    }
}

void Timer::start(std::int64_t ms) {
    stop();
    // A limit of centuries is none; the sum must not overflow.
    place_ = loop_.timers_.emplace(mono_ms() + std::min<std::int64_t>(ms, std::int64_t{1} << 53), this);
    running_ = true;
}

void Timer::stop() {
    if (!running_) return;
    loop_.timers_.erase(place_);
    running_ = false;
}

void Steps::resume() {
    if (running_) return;
    running_ = true;
    loop_.steps_.push_back(this);
}

void Steps::pause() {
    if (!running_) return;
    running_ = false;
    std::ranges::replace(loop_.steps_, this, static_cast<Steps*>(nullptr));
}

IdleHook::IdleHook(Loop& loop, std::function<void()> callback) : loop_{loop}, callback_{std::move(callback)} {
    loop_.idle_hooks_.push_back(this);
}

IdleHook::~IdleHook() {
    std::erase(loop_.idle_hooks_, this);
}

}  // namespace oyat::agent
