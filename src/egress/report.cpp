#include "egress/report.hpp"

#include <boost/json/serialize.hpp>
#include <exception>

#include "base/log.hpp"

namespace oyat::egress {
namespace {

constexpr std::chrono::minutes kInterval{1};
constexpr std::size_t kMaxSeen = 1024;

}  // namespace

Report::Report(Executor executor, core::EventBus& events, std::string sandbox, std::string tenant)
    : events_{events},
      sandbox_{std::move(sandbox)},
      tenant_{std::move(tenant)},
      minute_{std::move(executor), [this] { turn_of_the_minute(); }} {}

core::Event Report::make(std::string type, boost::json::object fields, std::optional<Fault> fault) const {
    core::Event event;
    event.type = std::move(type);
    event.sandbox = sandbox_;
    event.tenant = tenant_;
    event.by = core::Witness::proxy;
    event.fault = fault;
    event.fields = std::move(fields);
    return event;
}

void Report::event(std::string type, boost::json::object fields, std::optional<Fault> fault) {
    events_.emit(make(std::move(type), std::move(fields), fault));
}

void Report::event_logged(std::string type, boost::json::object fields, std::optional<Fault> fault) noexcept {
    emit_logged(make(std::move(type), std::move(fields), fault));
}

void Report::emit_logged(core::Event event) noexcept {
    try {
        events_.emit(std::move(event));
    } catch (const std::exception& error) {
        log::error("an event of the proxy was not recorded",
                   {{"sandbox", sandbox_}, {"error", error.what()}});
    }
}

void Report::repeated(std::string type, boost::json::object fields, std::optional<Fault> fault) noexcept {
    const std::string key = type + boost::json::serialize(fields);
    if (const auto known = seen_.find(key); known != seen_.end()) {
        ++known->second.count;
        return;
    }
    if (seen_.size() >= kMaxSeen) flush();
    Seen& seen = seen_[key];
    seen.event = make(std::move(type), std::move(fields), fault);
    seen.count = 1;
    show(seen);
    if (!minute_.armed()) minute_.arm(kInterval);
}

void Report::show(Seen& seen) noexcept {
    core::Event event = seen.event;
    event.fields["count"] = std::exchange(seen.count, 0);
    emit_logged(std::move(event));
}

void Report::turn_of_the_minute() {
    for (auto entry = seen_.begin(); entry != seen_.end();) {
        if (entry->second.count == 0) {
            entry = seen_.erase(entry);
        } else {
            show(entry->second);
            ++entry;
        }
    }
    if (!seen_.empty()) minute_.arm(kInterval);
}

void Report::flush() noexcept {
    for (auto& [key, seen] : seen_) {
        if (seen.count > 0) show(seen);
    }
    seen_.clear();
    minute_.disarm();
}

}  // namespace oyat::egress
