#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <deque>
#include <utility>

#include "core/event.hpp"
#include "core/masks.hpp"
#include "io/condition.hpp"
#include "io/post.hpp"

namespace oyat::core {
namespace {

namespace json = boost::json;

constexpr std::size_t kKeptEvents = 10'000;
constexpr std::size_t kKeptBytes = 8u << 20;
constexpr std::size_t kKeptText = 16u << 10;  // of one string: output of commands is in the record, not here
constexpr std::size_t kFollowerQueue = 2'000;

// Cuts long texts, at the start of a UTF-8 sequence, and adds up what remains.
std::size_t trim(json::value& value) {
    if (auto* text = value.if_string()) {
        if (text->size() > kKeptText) {
            std::size_t end = kKeptText;
            while (end > 0 && (static_cast<unsigned char>((*text)[end]) & 0xC0) == 0x80) --end;
            *text = json::string{text->data(), end};
        }
        return sizeof(json::value) + text->size();
    }
    std::size_t bytes = sizeof(json::value);
    if (auto* array = value.if_array()) {
        for (json::value& each : *array) bytes += trim(each);
    } else if (auto* object = value.if_object()) {
        for (auto& [name, member] : *object) bytes += name.size() + trim(member);
    }
    return bytes;
}

// What one follower has not taken yet. Lives on the follower's loop; the bus reaches it by post() alone.
struct Queue {
    std::deque<std::shared_ptr<const Event>> events;
    std::uint64_t lost = 0;
    bool closed = false;
    Condition arrived;

    void push(std::shared_ptr<const Event> event) {
        if (events.size() >= kFollowerQueue) {
            events.pop_front();
            ++lost;
        }
        events.push_back(std::move(event));
        arrived.notify_one();
    }
    void close() {
        closed = true;
        arrived.notify_all();
    }
};

class Follower final : public EventFollower {
public:
    explicit Follower(std::shared_ptr<Queue> queue) : queue_{std::move(queue)} {}

    Task<std::shared_ptr<const Event>> next() override {
        while (queue_->events.empty() && !queue_->closed) co_await queue_->arrived.wait();
        if (queue_->events.empty()) co_return nullptr;
        auto event = std::move(queue_->events.front());
        queue_->events.pop_front();
        co_return event;
    }
    [[nodiscard]] std::uint64_t lost() const override { return queue_->lost; }

private:
    std::shared_ptr<Queue> queue_;  // shared with posts of the bus that are under way
};

}  // namespace

struct EventBus::Impl {
    struct Kept {
        std::shared_ptr<const Event> event;
        std::size_t bytes;
    };
    struct Listed {
        std::weak_ptr<Queue> queue;
        Executor executor;
        EventFilter filter;
    };

    const Clock& clock;
    AuditLog& log;
    Masks* masks;
    std::uint64_t next_seq;
    std::deque<Kept> ring;
    std::size_t ring_bytes = 0;
    std::vector<std::function<void(const Event&)>> listeners;
    std::vector<Listed> followers;
    bool closed = false;

    void keep(std::shared_ptr<const Event> event, std::size_t bytes) {
        ring.push_back({std::move(event), bytes});
        ring_bytes += bytes;
        while (ring.size() > kKeptEvents || (ring_bytes > kKeptBytes && ring.size() > 1)) {
            ring_bytes -= ring.front().bytes;
            ring.pop_front();
        }
    }

    void show(const std::shared_ptr<const Event>& event) {
        std::erase_if(followers, [&](const Listed& each) {
            const auto queue = each.queue.lock();
            if (!queue) return true;
            if (each.filter.matches(*event)) {
                post(each.executor, [queue, event] { queue->push(event); });
            }
            return false;
        });
    }
};

// Numbers start at the microsecond of the start, so that an id is not given twice over restarts: no log can
// say what the last one was, as there is one for each sandbox. They stay below 2^53, exact in every JSON
// reader.
EventBus::EventBus(const Clock& clock, AuditLog& log, Masks* masks)
    : impl_{new Impl{.clock = clock,
                     .log = log,
                     .masks = masks,
                     .next_seq = static_cast<std::uint64_t>(unix_millis(clock.wall())) * 1000 + 1}} {}

EventBus::~EventBus() {
    close();
}

std::string EventBus::emit(Event event) {
    event.seq = impl_->next_seq;
    event.id = "ev_" + std::to_string(event.seq);
    event.time = impl_->clock.wall();
    event.mono_ns = std::chrono::nanoseconds{impl_->clock.mono().time_since_epoch()}.count();
    if (impl_->masks != nullptr) impl_->masks->hide(event);
    impl_->log.append(event);
    ++impl_->next_seq;

    std::size_t bytes = sizeof(Event) + event.type.size() + event.sandbox.size() + event.tenant.size();
    for (auto& [name, value] : event.fields) bytes += name.size() + trim(value);
    const auto shown = std::make_shared<const Event>(std::move(event));
    for (const auto& listener : impl_->listeners) listener(*shown);
    impl_->show(shown);
    impl_->keep(shown, bytes);
    return shown->id;
}

Task<> EventBus::prepare(std::string sandbox) {
    co_await impl_->log.prepare(std::move(sandbox));
}

void EventBus::listen(std::function<void(const Event&)> listener) {
    impl_->listeners.push_back(std::move(listener));
}

std::unique_ptr<EventFollower> EventBus::follow(Executor executor, EventFilter filter) {
    auto queue = std::make_shared<Queue>();
    queue->closed = impl_->closed;
    impl_->followers.push_back({queue, std::move(executor), std::move(filter)});
    return std::make_unique<Follower>(std::move(queue));
}

std::vector<std::shared_ptr<const Event>> EventBus::recent(const EventFilter& filter,
                                                           std::size_t limit) const {
    std::vector<std::shared_ptr<const Event>> found;
    for (auto each = impl_->ring.rbegin(); each != impl_->ring.rend() && found.size() < limit; ++each) {
        if (filter.matches(*each->event)) found.push_back(each->event);
    }
    std::ranges::reverse(found);
    return found;
}

void EventBus::close() {
    impl_->closed = true;
    for (const Impl::Listed& each : std::exchange(impl_->followers, {})) {
        if (const auto queue = each.queue.lock()) post(each.executor, [queue] { queue->close(); });
    }
}

}  // namespace oyat::core
