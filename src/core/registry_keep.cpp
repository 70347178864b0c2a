#include <algorithm>
#include <utility>

#include "base/defer.hpp"
#include "base/log.hpp"
#include "core/json_text.hpp"
#include "core/lifecycle.hpp"
#include "core/record_fields.hpp"
#include "core/registry.hpp"
#include "io/race.hpp"

// Keeping what we know in step with what there is: notices of the keeper, lost agents, restarts of either
// daemon.
namespace oyat::core {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kAtOnce = 32;      // sandboxes that are joined side by side
constexpr std::size_t kPerSample = 500;  // ids in one question to the keeper
constexpr int kRescueTries = 3;
constexpr Millis kRescuePause = 500ms;

// Runs tasks, kAtOnce of them side by side, until `next` gives no more.
Task<> work_off(std::shared_ptr<std::vector<Task<>>> tasks) {
    while (!tasks->empty()) {
        Task<> task = std::move(tasks->back());
        tasks->pop_back();
        co_await std::move(task);
    }
}

Task<> all_of(Executor executor, std::vector<Task<>> tasks) {
    const auto shared = std::make_shared<std::vector<Task<>>>(std::move(tasks));
    TaskGroup workers{std::move(executor)};
    for (std::size_t i = 0; i < kAtOnce && i < shared->size(); ++i) workers.spawn(work_off(shared));
    co_await workers.wait_idle();
    co_await workers.close();
}

}  // namespace

// --- notices ----------------------------------------------------------------------------------------------

void Registry::heard(KeeperNotice notice) {
    const bool back = notice.kind == KeeperNotice::Kind::link_back;
    if (back || notice.kind == KeeperNotice::Kind::link_lost) {
        Event event{.type = back ? "keeper.back" : "keeper.lost", .by = Witness::host};
        if (!back) event.fault = Fault::engine;
        event.fields["text"] = json_text(notice.text);
        emit_or_log(deps_.events, std::move(event));
        if (back) tasks_.spawn(verify());
        return;
    }
    if (notice.kind == KeeperNotice::Kind::brakes) {
        tasks_.spawn(heed_quietly());
        return;
    }
    const auto found = live_.find(notice.id);
    if (found == live_.end()) return;
    const Live sandbox = found->second;
    if (notice.kind == KeeperNotice::Kind::oom) {
        sandbox->limits().oom(notice);
    } else if (notice.kind == KeeperNotice::Kind::disk_full) {
        sandbox->limits().hit("disk", Witness::host);
    } else if (notice.kind == KeeperNotice::Kind::died) {
        const std::string oom = sandbox->limits().recent_oom();
        tasks_.spawn(
            end_quietly(sandbox, {.reason = oom.empty() ? EndedBy::crash : EndedBy::oom,
                                  .detail = oom.empty() ? "its first process ended unexpectedly" : oom,
                                  .gone_already = true,
                                  .last_usage = std::move(notice.last)}));
    }
}

std::function<void(std::string)> Registry::rescuer_of(const Live& sandbox) {
    return [this, weak = std::weak_ptr{sandbox}](std::string why) {
        if (const Live lost = weak.lock()) tasks_.spawn(rescue(lost, std::move(why)));
    };
}

// The agent's connection is gone. It may have been the connection alone; then the agent is joined again.
Task<> Registry::rescue(Live sandbox, std::string why) {
    co_await sandbox->settle();
    const std::string id = sandbox->record().id;
    if (!live_.contains(id) || put_down_.contains(id) || is_over(sandbox->record().state) ||
        sandbox->record().stored || !rescued_.insert(id).second)
        co_return;
    const Defer done{[&] { rescued_.erase(id); }};
    log::warn("agent lost", {{"sandbox", id}, {"reason", why}});
    Event event = sandbox_event(sandbox->record(), "agent.lost", Witness::host);
    event.fault = Fault::agent;
    event.fields["sentence"] = json_text(why);
    emit_or_log(deps_.events, std::move(event));
    if (sandbox->agent_broke_protocol()) {
        co_await end_quietly(sandbox, {.reason = EndedBy::crash, .detail = why});
        co_return;
    }
    co_await sandbox->drop_agent("the sandbox's agent is being joined again");
    for (int tries = 1;; ++tries) {
        std::optional<Error> failed;
        try {
            co_await adopt(sandbox, sandbox->record().state == SandboxState::paused);
            co_return;
        } catch (const Error& e) {
            if (e.code() == Errc::canceled) throw;
            failed = e;
        }
        if (is_over(sandbox->record().state)) co_return;
        if (failed->fault() == Fault::engine && failed->code() == Errc::unavailable)
            co_return;  // verify() goes on
        if (failed->code() == Errc::failed_precondition && co_await found_on_disk(sandbox)) co_return;
        const bool gone = failed->code() == Errc::not_found;
        if (gone || tries == kRescueTries) {
            const std::string oom = sandbox->limits().recent_oom();
            co_await end_quietly(sandbox, {.reason = oom.empty() ? EndedBy::crash : EndedBy::oom,
                                           .detail = oom.empty() ? why : oom,
                                           .gone_already = gone});
            co_return;
        }
        co_await sandbox->drop_agent("the sandbox's agent is being joined again");
        co_await sleep_for(kRescuePause);
    }
}

// A pause that was cut short by the keeper's end may have come that far.
Task<bool> Registry::found_on_disk(Live sandbox) {
    std::vector<BoxFacts> boxes;
    try {
        boxes = co_await deps_.keeper.list();
    } catch (const Error& e) {
        if (e.code() == Errc::canceled) throw;
        co_return false;  // it is asked again
    }
    const auto box = std::ranges::find(boxes, sandbox->record().id, &BoxFacts::id);
    if (box == boxes.end() || !box->stored) co_return false;
    co_await put_in_step(sandbox, std::move(*box));
    co_return true;
}

// Joins a living box: its sockets and its agent.
Task<> Registry::adopt(Live sandbox, bool frozen) {
    NewBox box = co_await deps_.keeper.attach(sandbox->record().id);
    if (is_over(sandbox->record().state)) co_return;
    sandbox->set_egress(box.facts.egress_off, brakes_.egress_off);
    sandbox->take_handles(std::move(box.handles));
    // We may have been killed while it was being saved: whatever stands still in it is to go on. The memory
    // of a jail is never saved.
    if (sandbox->record().boundary != "shared-kernel") sandbox->note_saved();
    if (!frozen)
        co_await sandbox->greet(
            LiveSandbox::Agent::known);  // one that is frozen is greeted when it is resumed
    emit_or_log(deps_.events, sandbox_event(sandbox->record(), "sandbox.reattached", Witness::host));
}

// --- restarts ---------------------------------------------------------------------------------------------

Task<> Registry::recover() {
    std::vector<SandboxRecord> records = co_await deps_.store.load();
    std::ranges::sort(records, {}, &SandboxRecord::ended_at);
    brakes_ = co_await deps_.keeper.brakes();
    co_await engines_.refresh();
    co_await recover_snapshots();
    const std::vector<BoxFacts> boxes = co_await deps_.keeper.list();
    std::map<std::string, BoxFacts> by_id;
    for (const BoxFacts& box : boxes) by_id.emplace(box.id, box);

    std::vector<Task<>> joins;
    for (SandboxRecord& record : records) {
        const auto box = by_id.find(record.id);
        if (record.state == SandboxState::ended && box == by_id.end()) {
            ended_.add(std::move(record));
        } else {
            std::optional<BoxFacts> facts;
            if (box != by_id.end()) facts = box->second;
            joins.push_back(recover_one(std::move(record), std::move(facts)));
        }
    }
    co_await all_of(deps_.executor, std::move(joins));
    co_await end_strangers(boxes);
    co_await forget_surplus();
    co_await restore_packages();
    if (deps_.secrets != nullptr) {
        std::set<std::string> living;
        for (const auto& [id, sandbox] : live_) living.insert(id);
        co_await deps_.secrets->keep_only(std::move(living));
    }
    recovered_ = true;
    co_await heed();  // what the operator did meanwhile
    log::info("sandboxes recovered", {{"living", live_.size()}});
    tasks_.spawn(keep_sampling());
    tasks_.spawn(keep_looking());
    tasks_.spawn(keep_tending());
}

Task<> Registry::recover_one(SandboxRecord record, std::optional<BoxFacts> box) {
    const SandboxState was = record.state;
    // What the record says of a change that was under way is undone or finished by what the box is now.
    record.state = SandboxState::creating;
    record.held = box && box->held;
    const auto sandbox = std::make_shared<LiveSandbox>(deps_, admission_, texts_, std::move(record));
    sandbox->on_lost(rescuer_of(sandbox));
    const SandboxRecord& now = sandbox->record();
    co_await deps_.events.prepare(now.id);
    live_.emplace(now.id, sandbox);
    admission_.count(now.tenant);
    if (is_over(was)) {
        sandbox->begin(SandboxState::ending);
        co_await end_quietly(sandbox,
                             {.reason = now.ended_by, .detail = now.ended_detail, .gone_already = !box});
        co_return;
    }
    const bool sleeps = box && (box->frozen || box->held || box->stored);
    sandbox->begin(sleeps ? SandboxState::paused : SandboxState::running);
    if (!box) {
        co_await end_quietly(sandbox, gone(now));
        co_return;
    }
    if (now.state == SandboxState::running) {
        // One that was being resumed has no time of its own yet.
        if (was == SandboxState::paused || was == SandboxState::resuming) {
            sandbox->set_life(std::max(now.timeout, deps_.config.min_resumed_life), TimeoutMode::replace);
        } else {
            sandbox->restore_life();
        }
        keep_time(*sandbox);
    }
    if (box->stored) {
        sandbox->note_stored(true, box->has_memory);
        co_return;
    }
    try {
        co_await adopt(sandbox, sleeps);
    } catch (const Error& e) {
        if (e.code() == Errc::canceled) throw;
        tasks_.spawn(rescue(sandbox, e.message()));
    }
}

// Boxes that we have no record of were made for creates that were never acknowledged.
Task<> Registry::end_strangers(const std::vector<BoxFacts>& boxes) {
    for (const BoxFacts& box : boxes) {
        if (live_.contains(box.id) || making_.contains(box.owner_tag) || ended_.find(box.id) != nullptr)
            continue;
        log::info("ending a box that was never handed out", {{"sandbox", box.id}});
        try {
            co_await deps_.keeper.kill(box.id);
        } catch (const Error& e) {
            if (e.code() == Errc::canceled) throw;
            if (e.code() != Errc::not_found)
                log::warn("not ended", {{"sandbox", box.id}, {"error", e.message()}});
        }
    }
}

// The keeper was away, perhaps restarted: our sandboxes went on without it, or ended unseen.
Task<> Registry::verify() {
    const std::map<std::string, Live> before = live_;
    co_await heed();
    co_await engines_.refresh();
    const std::vector<BoxFacts> boxes = co_await deps_.keeper.list();
    std::map<std::string, BoxFacts> there;
    for (const BoxFacts& box : boxes) there.emplace(box.id, box);
    for (const auto& [id, sandbox] : before) {
        if (!live_.contains(id)) continue;
        const SandboxState state = sandbox->record().state;
        const auto found = there.find(id);
        if (state == SandboxState::ending) {
            tasks_.spawn(end_quietly(sandbox, {.gone_already = found == there.end()}));
            continue;
        }
        if (found == there.end()) {
            tasks_.spawn(end_quietly(sandbox, gone(sandbox->record())));
            continue;
        }
        const BoxFacts& box = found->second;
        const bool sleeps = box.frozen || box.held || box.stored;
        if (!is_changing(state) &&
            (sleeps != (state == SandboxState::paused) || box.stored != sandbox->record().stored)) {
            tasks_.spawn(put_in_step(sandbox, box));
        } else if (state == SandboxState::running && !sandbox->has_agent()) {
            tasks_.spawn(rescue(sandbox, "the keeper was away"));
        }
    }
    co_await end_strangers(boxes);
}

// The keeper went away over a pause or a resume, having done it or not: the box is made what the sandbox is.
// One that was put on disk stays there.
Task<> Registry::put_in_step(Live sandbox, BoxFacts box) {
    co_await sandbox->settle();
    const SandboxState state = sandbox->record().state;
    if (is_over(state) || sandbox->record().held) co_return;
    try {
        if (box.stored) {
            co_await sandbox->found_stored(box.has_memory);
            deadlines_.drop(box.id);
            co_return;
        }
        sandbox->note_stored(false, false);
        co_await deps_.keeper.set_frozen(box.id, state == SandboxState::paused);
        if (state == SandboxState::running && !sandbox->has_agent())
            co_await rescue(sandbox, "the keeper was away");
    } catch (const Error& e) {
        if (e.code() == Errc::canceled) throw;
        log::warn("sandbox not in step with the keeper", {{"sandbox", box.id}, {"error", e.message()}});
    }
}

// --- now and then -----------------------------------------------------------------------------------------

Task<> Registry::keep_sampling() {
    while (true) {
        co_await sleep_for(deps_.config.sample_every);
        try {
            co_await take_samples();
            co_await forget_surplus();
        } catch (const Error& e) {
            if (e.code() == Errc::canceled) throw;
            log::debug("no samples this time", {{"error", e.message()}});
        }
    }
}

Task<> Registry::take_samples() {
    std::vector<std::string> ids;
    for (const auto& [id, sandbox] : live_) {
        if (sandbox->record().state == SandboxState::running) ids.push_back(id);
    }
    for (std::size_t at = 0; at < ids.size(); at += kPerSample) {
        const auto end = std::min(ids.size(), at + kPerSample);
        const std::vector<std::string> part{ids.begin() + static_cast<std::ptrdiff_t>(at),
                                            ids.begin() + static_cast<std::ptrdiff_t>(end)};
        for (const BoxUsage& usage : co_await deps_.keeper.usage(part)) {
            const auto found = live_.find(usage.id);
            if (found == live_.end()) continue;
            if (auto signal = found->second->sample(usage))
                tasks_.spawn(act_on(usage.id, *std::move(signal)));
        }
    }
}

Task<> Registry::forget_surplus() {
    for (const std::string& id : ended_.take_surplus(deps_.clock.wall())) co_await deps_.store.forget(id);
}

}  // namespace oyat::core
