#include "io/timer.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "io/cancel.hpp"

namespace oyat {

namespace asio = boost::asio;
using Steady = std::chrono::steady_clock;

Task<> sleep_for(std::chrono::nanoseconds duration) {
    if ((co_await asio::this_coro::cancellation_state).cancelled() != asio::cancellation_type::none) {
        throw canceled();
    }
    asio::steady_timer timer{co_await asio::this_coro::executor, duration};
    boost::system::error_code error;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, error));
    if (error) throw canceled();
}

Task<> yield_now() {
    co_await asio::post(asio::use_awaitable);
    if ((co_await asio::this_coro::cancellation_state).cancelled() != asio::cancellation_type::none) {
        throw canceled();
    }
}

struct Timer::State : std::enable_shared_from_this<State> {
    State(const Executor& executor, std::function<void()> function)
        : timer{executor}, on_expiry{std::move(function)} {}

    asio::steady_timer timer;
    std::function<void()> on_expiry;
    std::optional<Steady::time_point> deadline;
    bool waiting = false;

    // The pending wait may be for an earlier time than the deadline; it then goes on for the rest.
    void wait() {
        waiting = true;
        timer.expires_at(*deadline);
        timer.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
            if (error) return;  // an earlier deadline took its place, or the timer is gone
            self->waiting = false;
            if (!self->deadline) return;
            if (Steady::now() < *self->deadline) return self->wait();
            self->deadline.reset();
            self->on_expiry();
        });
    }
};

Timer::Timer(Executor executor, std::function<void()> on_expiry)
    : state_{std::make_shared<State>(executor, std::move(on_expiry))} {}

Timer::~Timer() {
    state_->deadline.reset();
    state_->timer.cancel();
}

void Timer::arm(std::chrono::nanoseconds from_now) {
    state_->deadline = Steady::now() + from_now;
    if (!state_->waiting || state_->timer.expiry() > *state_->deadline) state_->wait();
}

void Timer::disarm() noexcept {
    state_->deadline.reset();
}

bool Timer::armed() const noexcept {
    return state_->deadline.has_value();
}

namespace {

Task<> note_end(Task<> task, bool& ended) {
    co_await std::move(task);
    ended = true;
}

}  // namespace

Task<> with_timeout(Millis limit, std::string what, Task<> task) {
    bool ended = false;
    const std::size_t first = co_await race(note_end(std::move(task), ended), sleep_for(limit));
    if (first == 1 && !ended) {
        throw Error{Errc::deadline, what + ": not done within " + std::to_string(limit.count()) + " ms"};
    }
}

}  // namespace oyat
