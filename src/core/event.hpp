#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "core/principal.hpp"
#include "io/task.hpp"

namespace oyat::core {

// Who saw it. `agent` facts are claims from inside and never override the others (threats, section 4).
enum class Witness { host, proxy, api, agent };
[[nodiscard]] std::string_view to_string(Witness witness) noexcept;

// One thing that happened. `type` is a dotted word of docs/internals/events.md: sandbox.created,
// command.requested, command.started, command.exited, command.record, file.written, connect.denied,
// dns.query, limit.hit, ...
struct Event {
    std::string type;
    std::string sandbox;  // "" for events of the server itself
    std::string tenant;
    Witness by = Witness::api;
    std::optional<Fault> fault;  // set on everything that failed
    boost::json::object fields;  // what belongs to the type; no secrets, no environment values

    // Filled by EventBus::emit.
    std::string id;  // "ev_<n>": errors shown to clients name it
    std::uint64_t seq = 0;
    WallTime time{};
    std::int64_t mono_ns = 0;
};

// The record. append() returns when the line is in the page cache: it is written before the effect it
// describes. Throws Error{unavailable} when it cannot be written (the caller then refuses what it was about
// to do).
class AuditLog {
public:
    virtual ~AuditLog() = default;
    virtual void append(const Event& event) = 0;

    // Readies a sandbox's own log. Awaited (EventBus::prepare) when its box exists and before its first
    // program can start; events that come earlier go to the server's log. Throws Error{unavailable} when
    // there can be no log.
    virtual Task<> prepare([[maybe_unused]] std::string sandbox) { co_return; }
};

// A bounded view of the events as they come. A follower that is too slow loses the oldest; `lost` counts
// them.
class EventFollower {
public:
    virtual ~EventFollower() = default;
    virtual Task<std::shared_ptr<const Event>> next() = 0;  // null after the bus has closed
    [[nodiscard]] virtual std::uint64_t lost() const = 0;
};

struct EventFilter {
    std::string tenant;   // "" = all (admin)
    std::string sandbox;  // "" = all
    std::string type_prefix;
    [[nodiscard]] bool matches(const Event& event) const;
};

class Masks;

// Where every event of the house goes: first the record, then whoever listens.
class EventBus {
public:
    // What must not be seen is hidden from each event before anybody sees it, if there are masks.
    EventBus(const Clock& clock, AuditLog& log, Masks* masks = nullptr);
    ~EventBus();

    // Stamps the event, writes it to the record, shows it to the listeners. Returns its id. Throws what the
    // record throws.
    std::string emit(Event event);
    Task<> prepare(std::string sandbox);  // AuditLog::prepare

    // Called for each event, on the loop, must not block. For metrics.
    void listen(std::function<void(const Event&)> listener);
    [[nodiscard]] std::unique_ptr<EventFollower> follow(Executor executor, EventFilter filter);
    // The latest events that match, oldest first, at most `limit` of the last 10,000.
    [[nodiscard]] std::vector<std::shared_ptr<const Event>> recent(const EventFilter& filter,
                                                                   std::size_t limit) const;
    void close();  // ends all followers

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace oyat::core
