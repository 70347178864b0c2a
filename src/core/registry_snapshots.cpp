#include <utility>

#include "base/defer.hpp"
#include "base/log.hpp"
#include "base/throwing.hpp"
#include "core/json_text.hpp"
#include "core/record_fields.hpp"
#include "core/registry.hpp"
#include "core/snapshot_name.hpp"
#include "io/race.hpp"

// Snapshots from the first to the last: the keeper has them, the book says whose they are.
namespace oyat::core {
namespace {

using namespace std::chrono_literals;

constexpr Millis kTendEvery = 10min;
constexpr auto kWarnBefore = 24h;

}  // namespace

const SnapshotRecord& Registry::known_snapshot(const std::string& reference,
                                               const std::string& tenant) const {
    const SnapshotRecord* found = snapshots_.find(reference, tenant);
    if (found == nullptr) throw Error{Errc::not_found, Fault::client, "snapshot " + reference + " not found"};
    return *found;
}

SnapshotRecord Registry::snapshot(const std::string& reference, const std::string& tenant) const {
    return known_snapshot(reference, tenant);
}

std::vector<SnapshotRecord> Registry::snapshots(const SnapshotFilter& filter) const {
    return snapshots_.list(filter);
}

// In the record of the sandbox, as long as that lives.
Event Registry::snapshot_event(const SnapshotRecord& record, std::string type, Witness by) const {
    Event event{.type = std::move(type), .tenant = record.tenant, .by = by};
    if (live_.contains(record.sandbox)) event.sandbox = record.sandbox;
    event.fields["snapshot"] = record.id;
    if (!record.name.empty()) event.fields["name"] = record.name + ":" + record.tag;
    return event;
}

Task<SnapshotRecord> Registry::make_snapshot(std::string sandbox, std::string name, Principal who) {
    const Live source = live(sandbox, who.tenant);
    SnapshotRecord made;
    if (!name.empty()) {
        SnapshotName named = or_throw(SnapshotName::parse(name, who.tenant));
        if (deps_.templates.knows(named.name)) {
            throw Error{Errc::already_exists, Fault::client,
                        "there is a template of the name " + named.name + "; give the snapshot another"};
        }
        made.name = std::move(named.name);
        made.tag = std::move(named.tag);
    }
    made.tenant = who.tenant;
    snapshots_.enter(who.tenant);
    const Defer left{[this, tenant = who.tenant] { snapshots_.leave(tenant); }};
    co_await shielded(keep_snapshot(source, who, made));
    co_return made;
}

Task<> Registry::keep_snapshot(Live source, Principal who, SnapshotRecord& made) {
    const SandboxRecord& of = source->record();
    const Keep what = engines_.can(of.engine, "memory_snapshot") ? Keep::memory : Keep::disk;
    const SnapshotFacts facts = co_await source->copy(what);
    made.id = facts.id;
    made.sandbox = of.id;
    made.template_name = of.template_name;
    made.template_digest = facts.template_digest;
    made.engine = facts.engine;
    made.policy = of.policy;
    made.memory = facts.memory;
    made.limits = facts.limits;
    made.limits.open_files = of.limits.open_files;
    made.disk_bytes = facts.disk_bytes;
    made.memory_bytes = facts.memory_bytes;
    made.stood_still = std::chrono::duration_cast<Millis>(facts.stood_still);
    made.created = made.used = deps_.clock.wall();
    made.kept = deps_.config.snapshots.kept;
    made.key_id = who.key_id;
    made.client = who.client;
    made.protocol = who.protocol;
    std::optional<Error> failed;
    try {
        Event event = snapshot_event(made, "snapshot.created", Witness::api);
        event.fields["memory"] = made.memory;
        event.fields["disk_bytes"] = made.disk_bytes;
        event.fields["memory_bytes"] = made.memory_bytes;
        event.fields["stood_still_us"] = facts.stood_still.count();
        add_who(event, who);
        deps_.events.emit(std::move(event));
        co_await snapshots_.add(made);
    } catch (const Error& e) {
        failed = e;
    }
    if (!failed) co_return;
    co_await discard(made.id);
    throw Error{*failed};
}

Task<> Registry::remove_snapshot(std::string reference, Principal who) {
    const SnapshotRecord& record = known_snapshot(reference, who.tenant);
    Event event = snapshot_event(record, "snapshot.deleted", Witness::api);
    add_who(event, who);
    co_await shielded(drop_snapshot(record.id, std::move(event)));
}

// The keeper first: what is in the book and nowhere else is forgotten at the next start.
Task<> Registry::drop_snapshot(std::string id, Event event) {
    deps_.events.emit(std::move(event));
    try {
        co_await deps_.keeper.remove_snapshot(id);
    } catch (const Error& e) {
        if (e.code() != Errc::not_found) throw;
    }
    co_await snapshots_.forget(std::move(id));
}

Task<SnapshotRecord> Registry::retain_snapshot(std::string reference, Millis kept, Principal who) {
    SnapshotRecord record = known_snapshot(reference, who.tenant);
    if (kept < Millis{0}) throw Error{Errc::invalid_argument, "a snapshot is not kept for less than no time"};
    record.used = deps_.clock.wall();
    record.kept = kept;
    record.warned = false;
    Event event = snapshot_event(record, "snapshot.retained", Witness::api);
    event.fields["kept_ms"] = kept.count();
    add_who(event, who);
    deps_.events.emit(std::move(event));
    co_await snapshots_.change(record);
    co_return record;
}

// By a sandbox that has just been made of it, or was put back to it.
Task<> Registry::use_snapshot(std::string id, const SandboxRecord& by) {
    const auto found = snapshots_.all().find(id);
    if (found == snapshots_.all().end()) co_return;  // it was there for a fork alone
    SnapshotRecord record = found->second;
    record.used = deps_.clock.wall();
    record.warned = false;
    Event event = sandbox_event(by, "snapshot.used");
    event.fields["snapshot"] = id;
    emit_or_log(deps_.events, std::move(event));
    try {
        co_await snapshots_.change(std::move(record));
    } catch (const Error& e) {
        if (e.code() == Errc::canceled) throw;
        log::warn("the use of a snapshot is not in the store", {{"snapshot", id}, {"error", e.message()}});
    }
}

// One that nobody knows of.
Task<> Registry::discard(std::string snapshot) {
    try {
        co_await deps_.keeper.remove_snapshot(snapshot);
    } catch (const Error& e) {
        if (e.code() == Errc::canceled) throw;
        // The next start finds it again.
        log::warn("a snapshot is not removed yet", {{"snapshot", snapshot}, {"error", e.message()}});
    }
}

Task<> Registry::recover_snapshots() {
    std::vector<SnapshotFacts> there;
    try {
        there = co_await deps_.keeper.snapshots();
    } catch (const Error& e) {
        if (e.code() != Errc::unimplemented) throw;
        log::warn("the keeper is of a release without snapshots");
        co_return;
    }
    for (const std::string& id : co_await snapshots_.load(there)) {
        log::info("removing a snapshot that was never handed out", {{"snapshot", id}});
        co_await discard(id);
    }
}

Task<> Registry::tend_snapshots() {
    const WallTime now = deps_.clock.wall();
    const std::map<std::string, SnapshotRecord> all = snapshots_.all();
    for (const auto& [id, record] : all) {
        if (!record.expires()) continue;
        if (now >= record.expires_at()) {
            Event event = snapshot_event(record, "snapshot.deleted", Witness::host);
            event.fields["reason"] = "expired";
            co_await drop_snapshot(id, std::move(event));
        } else if (!record.warned && now + kWarnBefore >= record.expires_at()) {
            Event event = snapshot_event(record, "snapshot.expiring", Witness::host);
            event.fields["at"] = to_rfc3339(record.expires_at());
            deps_.events.emit(std::move(event));
            SnapshotRecord warned = record;
            warned.warned = true;
            co_await snapshots_.change(std::move(warned));
        }
    }
}

Task<> Registry::keep_tending() {
    while (true) {
        try {
            co_await tend_snapshots();
        } catch (const Error& e) {
            if (e.code() == Errc::canceled) throw;
            log::warn("snapshots not looked after this time", {{"error", e.message()}});
        }
        co_await sleep_for(kTendEvery);
    }
}

}  // namespace oyat::core
