#include "core/fan_out.hpp"

#include <algorithm>
#include <utility>

namespace oyat::core {

// One subscriber's end. Shares the fan-out with the process, which may be gone first.
class FanOut::View final : public Subscription {
public:
    View(std::shared_ptr<FanOut> from, std::shared_ptr<Subscriber> subscriber)
        : from_{std::move(from)}, subscriber_{std::move(subscriber)} {}
    ~View() override {
        from_->subscribers_.remove(subscriber_);
        from_->taken_.notify_all();
    }

    Task<std::optional<ProcessEvent>> next() override {
        if (std::exchange(looking_at_one_, false)) {
            --subscriber_->unacknowledged;
            from_->taken_.notify_all();
        }
        while (subscriber_->queue.empty()) {
            if (ended_) co_return std::nullopt;
            if (subscriber_->broken) throw Error{*subscriber_->broken};
            co_await subscriber_->arrived.wait();
        }
        ProcessEvent event = std::move(subscriber_->queue.front());
        subscriber_->queue.pop_front();
        looking_at_one_ = true;
        if (const auto* output = std::get_if<Output>(&event)) subscriber_->bytes -= output->bytes.size();
        ended_ = std::holds_alternative<ProcessEnd>(event);
        co_return event;
    }

private:
    std::shared_ptr<FanOut> from_;
    std::shared_ptr<Subscriber> subscriber_;
    bool looking_at_one_ = false;
    bool ended_ = false;
};

std::unique_ptr<Subscription> FanOut::subscribe() {
    if (subscribers_.size() >= kMaxSubscribers) {
        throw Error{Errc::exhausted, Fault::limit,
                    "more than " + std::to_string(kMaxSubscribers) + " connections to one process"};
    }
    auto subscriber = std::make_shared<Subscriber>();
    subscriber->allowed += held_bytes_;
    for (Output& each : std::exchange(held_, {})) give(*subscriber, std::move(each));
    stop_holding();
    if (end_) give(*subscriber, *end_);
    subscribers_.push_back(subscriber);
    return std::make_unique<View>(shared_from_this(), std::move(subscriber));
}

void FanOut::give(Subscriber& subscriber, ProcessEvent event) {
    if (const auto* output = std::get_if<Output>(&event)) subscriber.bytes += output->bytes.size();
    subscriber.queue.push_back(std::move(event));
    ++subscriber.unacknowledged;
    subscriber.arrived.notify_one();
}

void FanOut::publish(Output output) {
    if (holding_) return hold(std::move(output));
    for (const auto& each : subscribers_) {
        if (each->broken) continue;
        if (each->bytes > each->allowed) {
            each->broken = Error{Errc::exhausted, Fault::client,
                                 "this connection reads too slowly beside another one of the same process"};
            each->queue.clear();
            each->bytes = 0;
            each->arrived.notify_all();
        } else if (each == subscribers_.back()) {
            give(*each, std::move(output));
        } else {
            give(*each, output);
        }
    }
}

void FanOut::hold(Output output) {
    held_bytes_ += output.bytes.size();
    held_.push_back(std::move(output));
    while (held_bytes_ > kHeld) {
        std::string& oldest = held_.front().bytes;
        const std::size_t excess = std::min(held_bytes_ - kHeld, oldest.size());
        held_bytes_ -= excess;
        if (excess == oldest.size()) {
            held_.pop_front();
        } else {
            oldest.erase(0, excess);
        }
    }
}

Task<> FanOut::settled() {
    const std::shared_ptr<FanOut> self = shared_from_this();
    const auto pending = [&] {
        bool any = false;
        for (const auto& each : subscribers_) {
            if (each->broken) continue;
            if (each->unacknowledged == 0) return false;
            any = true;
        }
        return any;
    };
    while (pending()) co_await taken_.wait();
}

void FanOut::finish(ProcessEnd end) {
    end_ = std::move(end);
    for (const auto& each : subscribers_) {
        if (!each->broken) give(*each, *end_);
    }
}

void FanOut::interrupt(const Error& error) {
    for (const auto& each : subscribers_) {
        if (!each->broken) each->broken = error;
        each->arrived.notify_all();
    }
    taken_.notify_all();
}

void FanOut::stop_holding() {
    holding_ = false;
    held_.clear();
    held_bytes_ = 0;
}

}  // namespace oyat::core
