#include "api/native/call.hpp"
#include "core/event_json.hpp"
#include "io/race.hpp"
#include "io/timer.hpp"

// Events as they come: one JSON object a line.
namespace oyat::native {
namespace {

using core::Scope;

constexpr std::uint64_t kMaxLines = 10'000;
// An empty line, so that both sides notice when the other has vanished.
constexpr std::chrono::seconds kHeartbeat{15};

Task<> take_next(core::EventFollower& follower, std::shared_ptr<const core::Event>& into) {
    into = co_await follower.next();
}

Task<> follow(Call& call, core::EventFollower& follower, std::uint64_t shown_up_to) {
    std::uint64_t lost = 0;
    for (;;) {
        std::shared_ptr<const core::Event> event;
        const std::size_t first =
            co_await race(take_next(follower, event), sleep_for(kHeartbeat), call.exchange.client_gone());
        if (first == 2) co_return;
        if (first == 1) {
            co_await call.exchange.write("\n");
            continue;
        }
        if (event == nullptr) co_return;
        if (follower.lost() != lost) {
            lost = follower.lost();
            co_await call.exchange.write("{\"type\":\"follower.lost\",\"count\":" + std::to_string(lost) +
                                         "}\n");
        }
        if (event->seq > shown_up_to) co_await call.exchange.write(core::to_json_text(*event) + "\n");
    }
}

Task<> events(Call& call) {
    const core::Principal& who = call.who;
    const bool sees_all = call.of_operator() && who.may(Scope::admin);
    core::EventFilter filter{.tenant = sees_all ? std::string{} : who.tenant,
                             .sandbox = call.text("sandbox"),
                             .type_prefix = call.text("type")};
    const std::uint64_t limit = call.number("limit", 100, kMaxLines);
    const bool following = call.flag("follow");
    // Before the old ones are looked up: what happens meanwhile is seen twice rather than never.
    const auto follower = following ? call.services.events.follow(call.exchange.executor(), filter) : nullptr;
    co_await call.exchange.read_whole_body(0);
    co_await call.exchange.start(200, {{"Content-Type", "application/x-ndjson"}}, std::nullopt);
    std::uint64_t last = 0;
    for (const auto& event : call.services.events.recent(filter, limit)) {
        co_await call.exchange.write(core::to_json_text(*event) + "\n");
        last = event->seq;
    }
    if (follower) co_await follow(call, *follower, last);
    co_await call.exchange.finish();
}

constexpr Route kRoutes[] = {
    {"GET", "/v1/events", Scope::read, events},
};

}  // namespace

std::span<const Route> event_routes() {
    return kRoutes;
}

}  // namespace oyat::native
