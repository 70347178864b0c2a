#include "keeper/loop.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/throwing.hpp"

namespace oyat::keeper {
namespace {

constexpr int kEventsAtOnce = 64;

MonoTime now() {
    return std::chrono::steady_clock::now();
}

}  // namespace

Loop::Loop() : epoll_{sys(::epoll_create1(EPOLL_CLOEXEC), "make an epoll")} {}

void Loop::watch(int fd, Handler handler, std::uint32_t events) {
    epoll_event event{.events = events, .data = {.fd = fd}};
    sys(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event), "watch a descriptor");
    handlers_[fd] = std::make_shared<Handler>(std::move(handler));
}

void Loop::change(int fd, std::uint32_t events) {
    epoll_event event{.events = events, .data = {.fd = fd}};
    sys(::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event), "watch a descriptor");
}

void Loop::forget(int fd) noexcept {
    if (handlers_.erase(fd) != 0) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

Loop::TimerId Loop::after(Millis delay, Callback callback) {
    const TimerId id = ++last_timer_;
    const MonoTime due = now() + delay;
    timers_.emplace(std::pair{due, id}, std::move(callback));
    due_.emplace(id, due);
    return id;
}

void Loop::cancel(TimerId timer) noexcept {
    const auto found = due_.find(timer);
    if (found == due_.end()) return;
    timers_.erase({found->second, timer});
    due_.erase(found);
}

int Loop::wait_ms() const {
    if (timers_.empty()) return -1;
    const auto left = std::chrono::ceil<Millis>(timers_.begin()->first.first - now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

void Loop::run_due_timers() {
    const MonoTime until = now();
    while (!timers_.empty() && timers_.begin()->first.first <= until && !stopping_) {
        auto first = timers_.extract(timers_.begin());
        due_.erase(first.key().second);
        first.mapped()();
    }
}

void Loop::run() {
    stopping_ = false;
    std::array<epoll_event, kEventsAtOnce> events;
    while (!stopping_) {
        const int ready = ::epoll_wait(epoll_.get(), events.data(), kEventsAtOnce, wait_ms());
        if (ready < 0 && errno != EINTR) throw errno_error(errno, "wait for events");
        for (int at = 0; at < ready && !stopping_; ++at) {
            // Looked up one by one: an earlier handler of this round may have forgotten this descriptor.
            const auto found = handlers_.find(events[at].data.fd);
            if (found == handlers_.end()) continue;
            const std::shared_ptr<Handler> handler = found->second;  // survives being forgotten by itself
            (*handler)(events[at].events);
        }
        run_due_timers();
    }
}

}  // namespace oyat::keeper
