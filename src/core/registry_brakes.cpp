#include <time.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <utility>

#include "base/defer.hpp"
#include "base/log.hpp"
#include "core/lifecycle.hpp"
#include "core/record_fields.hpp"
#include "core/registry.hpp"
#include "io/race.hpp"

// The operator's brakes. The keeper has them; here what it says is made true of what we hold: connections are
// cut, streams end, states are what they are.
namespace oyat::core {
namespace {

using Brake = BrakeOrder::Brake;

bool is_pulled(Brake brake) {
    return brake == Brake::hold || brake == Brake::cut_egress;
}

Event brake_event(const BrakeOrder& order, const Principal& who) {
    Event event{.type = is_pulled(order.brake) ? "brake.pulled" : "brake.lifted", .tenant = who.tenant};
    const bool holds = order.brake == Brake::hold || order.brake == Brake::release;
    event.fields["brake"] = holds ? "hold" : "egress";
    event.fields["all"] = order.all;
    if (!order.all) event.fields["sandboxes"] = boost::json::array(order.ids.begin(), order.ids.end());
    add_who(event, who);
    return event;
}

// When this machine was started, by the wall clock.
WallTime machine_start(WallTime now) {
    timespec up{};
    ::clock_gettime(CLOCK_BOOTTIME, &up);
    return now - std::chrono::seconds{up.tv_sec};
}

}  // namespace

Task<BrakeFacts> Registry::pull(BrakeOrder order, Principal who) {
    for (const std::string& id : order.ids) {
        if (!live_.contains(id)) throw Error{Errc::not_found, Fault::client, "sandbox " + id + " not found"};
    }
    emit_or_log(deps_.events, brake_event(order, who));
    // To its end, also when whoever ordered it has hung up.
    std::optional<BrakeFacts> facts;
    co_await shielded(store_in(facts, pull_whole(std::move(order))));
    co_return *std::move(facts);
}

Task<BrakeFacts> Registry::pull_whole(BrakeOrder order) {
    if (order.brake == Brake::cut_egress) {
        // Connections are ours: they are cut before anybody else is asked.
        egress_cut_pending_ |= order.all;
        brakes_.egress_off |= order.all;
        for (const std::string& id : order.ids) live_.at(id)->note_egress(true, brakes_.egress_off);
        heed_egress();
    } else if (order.brake == Brake::open_egress && order.all) {
        egress_cut_pending_ = false;
    }
    BrakeFacts facts = co_await deps_.keeper.pull_brake(order);
    if (order.brake == Brake::cut_egress && order.all) egress_cut_pending_ = false;
    co_await heed();
    if (order.brake == Brake::release) co_await until_going(order);
    co_return facts;
}

// What was let go takes calls again, unless its clients had paused it or its agent is lost.
Task<> Registry::until_going(BrakeOrder order) {
    co_await yield_now();  // each has begun
    const std::map<std::string, Live> all = live_;
    for (const auto& [id, sandbox] : all) {
        if (order.all || std::ranges::find(order.ids, id) != order.ids.end()) co_await sandbox->settle();
    }
}

void Registry::heed_egress() {
    for (const auto& [id, sandbox] : live_) {
        sandbox->note_egress(sandbox->record().egress_off, brakes_.egress_off);
    }
}

Task<> Registry::heed() {
    // What the keeper could not be told when it was cut.
    if (egress_cut_pending_) {
        co_await deps_.keeper.pull_brake({.brake = Brake::cut_egress, .all = true});
        egress_cut_pending_ = false;
    }
    brakes_ = co_await deps_.keeper.brakes();
    if (!recovered_) co_return;  // the recovery ends with this
    heed_egress();
    const std::vector<BoxFacts> boxes = co_await deps_.keeper.list();
    for (const BoxFacts& box : boxes) {
        const auto found = live_.find(box.id);
        if (found == live_.end()) continue;
        const Live& sandbox = found->second;
        sandbox->note_egress(box.egress_off, brakes_.egress_off);
        if (box.held == sandbox->record().held) continue;
        if (!box.held) {
            tasks_.spawn(let_go(sandbox, box.frozen || box.stored));
            continue;
        }
        deadlines_.drop(box.id);
        sandbox->note_hold();
        tasks_.spawn(finish_hold(sandbox));
    }
    for (const std::string& id : brakes_.killed) {
        const auto found = live_.find(id);
        if (found == live_.end() || std::ranges::find(boxes, id, &BoxFacts::id) != boxes.end()) continue;
        tasks_.spawn(end_quietly(found->second, gone(found->second->record())));
    }
}

Task<> Registry::heed_quietly() {
    try {
        co_await heed();
    } catch (const Error& e) {
        if (e.code() == Errc::canceled) throw;
        log::warn("the operator's brakes are not known", {{"error", e.message()}});  // verify() asks again
    }
}

Task<> Registry::finish_hold(Live sandbox) {
    try {
        co_await sandbox->finish_hold();
    } catch (const Error& e) {
        if (e.code() == Errc::canceled) throw;
        log::warn("a hold is not in the store", {{"sandbox", sandbox->record().id}, {"error", e.message()}});
    }
}

Task<> Registry::let_go(Live sandbox, bool stays_paused) {
    try {
        co_await sandbox->note_release(stays_paused);
    } catch (const Error& e) {
        if (e.code() == Errc::canceled) throw;
        log::warn("a sandbox that was let go does not go on",
                  {{"sandbox", sandbox->record().id}, {"error", e.message()}});
    }
    if (sandbox->record().state == SandboxState::running) keep_time(*sandbox);
}

Task<> Registry::put_down(std::string id, Principal who) {
    const auto found = live_.find(id);
    if (found == live_.end()) throw Error{Errc::not_found, Fault::client, "sandbox " + id + " not found"};
    return put_down_as(
        found->second,
        {.reason = EndedBy::oyat_operator, .detail = "the operator ended it", .who = std::move(who)});
}

// The box first: its agent and whoever waits for it learn of it by that.
Task<> Registry::put_down_as(Live sandbox, Ending ending) {
    put_down_.insert(sandbox->record().id);
    const Defer done{[&] { put_down_.erase(sandbox->record().id); }};
    try {
        ending.last_usage = co_await deps_.keeper.kill(sandbox->record().id);
        ending.gone_already = true;
    } catch (const Error& e) {
        if (e.code() != Errc::not_found) throw;
    }
    co_await end(sandbox, std::move(ending));
}

void Registry::stop_creates_of(std::string key_id) {
    stopped_keys_.insert(std::move(key_id));
}

// What can be said of one that is no more, though nobody of us ended it.
Ending Registry::gone(const SandboxRecord& record) const {
    if (std::ranges::find(brakes_.killed, record.id) != brakes_.killed.end()) {
        return {.reason = EndedBy::oyat_operator,
                .detail = "the operator ended it at the keeper's door",
                .gone_already = true};
    }
    if (record.started < machine_start(deps_.clock.wall())) {
        return {.reason = EndedBy::server, .detail = "the machine was restarted", .gone_already = true};
    }
    return {.reason = EndedBy::crash, .detail = "it had ended while oyat was away", .gone_already = true};
}

}  // namespace oyat::core
