#include "io/condition.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <functional>

#include "io/cancel.hpp"

namespace oyat {

namespace asio = boost::asio;

struct Condition::Waiter {
    enum class Wake { notified, canceled };

    explicit Waiter(Condition& where) : condition{&where} {}
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;
    ~Waiter() {
        if (slot.is_connected()) slot.clear();
        if (queue != nullptr) queue->unlink(*this);
    }

    Condition* condition;    // null once it is gone
    Queue* queue = nullptr;  // the one that links this waiter
    Waiter* previous = nullptr;
    Waiter* next = nullptr;
    Wake wake = Wake::notified;
    Executor executor;
    asio::cancellation_slot slot;
    std::move_only_function<void()> resume;  // empty once it has been told

    // Suspends the calling coroutine until tell().
    auto suspended(bool can_be_canceled) {
        return asio::async_initiate<const asio::use_awaitable_t<>&, void()>(
            [this, can_be_canceled](auto handler) {
                executor = asio::get_associated_executor(handler);
                if (can_be_canceled) slot = asio::get_associated_cancellation_slot(handler);
                if (slot.is_connected()) {
                    slot.assign([this](asio::cancellation_type) {
                        if (resume) tell(Wake::canceled);
                    });
                }
                resume = [handler = std::move(handler)]() mutable { std::move(handler)(); };
                condition->waiting_.append(*this);
            },
            asio::use_awaitable);
    }

    void tell(Wake why) {
        wake = why;
        condition->waiting_.unlink(*this);
        condition->woken_.append(*this);
        asio::post(executor, std::move(resume));
    }
};

void Condition::Queue::append(Waiter& waiter) noexcept {
    waiter.queue = this;
    waiter.previous = last;
    waiter.next = nullptr;
    (last != nullptr ? last->next : first) = &waiter;
    last = &waiter;
}

void Condition::Queue::unlink(Waiter& waiter) noexcept {
    waiter.queue = nullptr;
    (waiter.previous != nullptr ? waiter.previous->next : first) = waiter.next;
    (waiter.next != nullptr ? waiter.next->previous : last) = waiter.previous;
}

Condition::~Condition() {
    while (waiting_.first != nullptr) waiting_.first->tell(Waiter::Wake::canceled);
    while (woken_.first != nullptr) {
        woken_.first->condition = nullptr;
        woken_.unlink(*woken_.first);
    }
}

Task<> Condition::wait() {
    const auto is_canceled_now = [](asio::cancellation_state state) {
        return state.cancelled() != asio::cancellation_type::none;
    };
    if (is_canceled_now(co_await asio::this_coro::cancellation_state)) throw canceled();

    Waiter waiter{*this};
    co_await waiter.suspended(true);
    // `this` may be gone from here on; the waiter knows.
    if (waiter.wake == Waiter::Wake::canceled) throw canceled();
    if (is_canceled_now(co_await asio::this_coro::cancellation_state)) {
        if (waiter.condition != nullptr) waiter.condition->notify_one();
        throw canceled();
    }
}

Task<> Condition::wait_uncanceled() {
    Waiter waiter{*this};
    co_await waiter.suspended(false);
    if (waiter.wake == Waiter::Wake::canceled) throw canceled();
}

void Condition::notify_one() {
    if (waiting_.first != nullptr) waiting_.first->tell(Waiter::Wake::notified);
}

void Condition::notify_all() {
    while (waiting_.first != nullptr) notify_one();
}

}  // namespace oyat
