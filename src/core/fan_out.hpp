#pragma once

#include <deque>
#include <list>
#include <memory>
#include <optional>

#include "core/process.hpp"
#include "io/condition.hpp"

namespace oyat::core {

// Gives what one process says to any number of subscribers. The fastest of them sets the pace: settled() lets
// the giver wait until one has taken everything and asked for more. One that stays more than kQueue behind
// the fastest is dropped, so that it slows nobody and costs no memory. Before the first subscription the
// latest kHeld bytes are kept for it: what a program says between its start and the client's first look is
// not lost.
class FanOut : public std::enable_shared_from_this<FanOut> {
public:
    static constexpr std::size_t kQueue = 256u << 10;
    static constexpr std::size_t kHeld = 1u << 20;
    static constexpr std::size_t kMaxSubscribers = 64;

    // Throws Error{exhausted} beyond kMaxSubscribers.
    [[nodiscard]] std::unique_ptr<Subscription> subscribe();

    void publish(Output output);
    // Returns when the fastest subscriber has acknowledged all by asking for more, and at once when there is
    // none.
    Task<> settled();
    // The last event, also for those who come later.
    void finish(ProcessEnd end);
    // Present subscribers get this error after what is queued for them.
    void interrupt(const Error& error);
    // Gives up what is kept for a first subscriber.
    void stop_holding();

private:
    class View;
    struct Subscriber {
        std::deque<ProcessEvent> queue;
        std::size_t bytes = 0;  // in the queue
        std::size_t allowed = kQueue;
        std::size_t unacknowledged = 0;  // events given and not asked beyond
        std::optional<Error> broken;
        Condition arrived;
    };
    void give(Subscriber& subscriber, ProcessEvent event);
    void hold(Output output);

    std::list<std::shared_ptr<Subscriber>> subscribers_;
    Condition taken_;
    bool holding_ = true;
    std::deque<Output> held_;
    std::size_t held_bytes_ = 0;
    std::optional<ProcessEnd> end_;
};

}  // namespace oyat::core
