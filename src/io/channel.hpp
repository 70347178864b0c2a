#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "io/condition.hpp"

namespace oyat {

// A bounded queue between coroutines of one loop. A full channel holds its producers back, an empty one its
// consumers.
template <class T>
class Channel {
public:
    explicit Channel(std::size_t capacity) : capacity_{capacity} {}

    // Waits for room. False (and the value is dropped) when the channel is closed.
    [[nodiscard]] Task<bool> push(T value) {
        while (!closed_ && items_.size() >= capacity_) co_await room_.wait();
        co_return try_push(std::move(value));
    }
    // False when full or closed; the value is then left as it was.
    [[nodiscard]] bool try_push(T&& value) {
        if (closed_ || items_.size() >= capacity_) return false;
        items_.push_back(std::move(value));
        filled_.notify_one();
        return true;
    }

    // The next value; nothing once the channel is closed and empty.
    [[nodiscard]] Task<std::optional<T>> pop() {
        while (items_.empty() && !closed_) co_await filled_.wait();
        co_return try_pop();
    }
    [[nodiscard]] std::optional<T> try_pop() {
        if (items_.empty()) return std::nullopt;
        std::optional<T> value{std::move(items_.front())};
        items_.pop_front();
        room_.notify_one();
        return value;
    }

    // No more values come in; those inside can still be taken.
    void close() {
        closed_ = true;
        filled_.notify_all();
        room_.notify_all();
    }

    [[nodiscard]] bool closed() const noexcept { return closed_; }
    [[nodiscard]] bool empty() const noexcept { return items_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }

private:
    std::size_t capacity_;
    bool closed_ = false;
    std::deque<T> items_;
    Condition filled_;
    Condition room_;
};

}  // namespace oyat
