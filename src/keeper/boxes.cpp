#include "keeper/boxes.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/id.hpp"
#include "base/log.hpp"
#include "base/throwing.hpp"
#include "engine/common/forked_work.hpp"

namespace oyat::keeper {
namespace {

constexpr Millis kFreezeWait{250};
constexpr std::size_t kListBytes = wire::kMaxKeeperPacket / 2;
constexpr std::size_t kMaxStats = 1000;  // a packet's worth

Fd duplicate(int fd) {
    return Fd{sys(::fcntl(fd, F_DUPFD_CLOEXEC, 0), "duplicate a descriptor")};
}

MonoTime now() {
    return std::chrono::steady_clock::now();
}

}  // namespace

Boxes::Boxes(Loop& loop, BoxFactory& factory, Snapshots& snapshots, cgroup::Parent& groups,
             layers::Sweeper& sweeper, Options options, EventHandler on_event)
    : loop_{loop},
      factory_{factory},
      snapshots_{snapshots},
      sweeper_{sweeper},
      options_{std::move(options)},
      on_event_{std::move(on_event)},
      pool_{options_.pool},
      rate_{options_.limits.creates_per_second, now()},
      oom_watch_{groups},
      chores_{loop, [this] { finish_closing(); }} {
    trim_later();
    loop_.watch(oom_watch_.fd(), [this](std::uint32_t) { on_oom_hint(); });
    if (oom_log_.fd() >= 0) {
        loop_.watch(oom_log_.fd(), [this](std::uint32_t) {
            for (const OomVictim& victim : oom_log_.take()) on_victim(victim);
        });
    }
}

Boxes::~Boxes() {
    loop_.cancel(refill_timer_);
    loop_.cancel(trim_timer_);
    for (const auto& [id, timer] : leftovers_) loop_.cancel(timer);
    for (const auto& [id, box] : boxes_) loop_.forget(box.process.pidfd.get());
    loop_.forget(oom_watch_.fd());
    if (oom_log_.fd() >= 0) loop_.forget(oom_log_.fd());
}

// From here on its end is noticed. When that can't be had, it ends here and now.
Box& Boxes::insert(Box box) {
    std::string id = box.record.id;
    Box& kept = boxes_.emplace(id, std::move(box)).first->second;
    try {
        loop_.watch(kept.process.pidfd.get(), [this, id](std::uint32_t) { on_ended(id); });
    } catch (const Error&) {
        engine::kill_process(kept.process);
        engine::wait_for_end(kept.process);
        on_ended(id);
        throw;
    }
    try {
        oom_watch_.add(kept.group);
    } catch (const Error& error) {  // the kernel's log still tells
        log::warn("a sandbox's want of memory is not watched", {{"id", id}, {"why", error.message()}});
    }
    return kept;
}

void Boxes::adopt(Box box) {
    if (!box.record.held) box.record.frozen = box.group.frozen();
    insert(std::move(box));
}

Box* Boxes::living_box(const std::string& id) {
    const auto found = boxes_.find(id);
    const bool lives = found != boxes_.end() && found->second.record.stage == Stage::handed_out;
    return lives ? &found->second : nullptr;
}

Box& Boxes::handed_out(const std::string& id) {
    if (Box* box = living_box(id)) return *box;
    if (owned_record(id) != nullptr) throw Error{Errc::failed_precondition, "the sandbox is stored"};
    throw Error{Errc::not_found, "no such sandbox"};
}

// --- orders
// -------------------------------------------------------------------------------------------------

void Boxes::create(const wire::CreateBox& order, CreateHandler done) {
    if (closed_) throw Error{Errc::unavailable, Fault::engine, "the server is stopping"};
    const wire::BoxLimits limits = or_throw(options_.limits.judge(order.limits));
    if (boxes_.size() + chores_.count() >= options_.limits.max_boxes &&
        living() + chores_.count() >= options_.limits.max_boxes) {
        throw Error{Errc::exhausted, std::to_string(options_.limits.max_boxes) +
                                         " sandboxes run, the most that this server may"};
    }
    if (!rate_.allow(now())) throw Error{Errc::exhausted, "too many creates within a second"};
    factory_.require_room();

    Plan plan = plan_of(order, limits);
    const bool may_be_warm = plan.record.engine == kPooledEngine && plan.disk == Plan::Disk::fresh;
    if (Box* warm = order.never_pool || !may_be_warm ? nullptr : take_warm(order.template_digest)) {
        try {
            return done(give(*warm, limits, order.owner_tag));
        } catch (const Error& error) {
            // A store of images can't change the size of a disk in use: then a new one is made.
            if (error.code() != Errc::unimplemented) throw;
        }
    }
    if (order.from_pool_only) throw Error{Errc::exhausted, "no warm sandbox of this template is ready"};
    const std::string snapshot = plan.snapshot;
    if (!snapshot.empty()) ++copied_from_[snapshot];
    make(std::move(plan), [this, limits, tag = order.owner_tag, snapshot, done](Result<Made> made) {
        if (!snapshot.empty() && --copied_from_[snapshot] == 0) copied_from_.erase(snapshot);
        if (!made) return done(std::unexpected{made.error()});
        try {
            Box& box = insert(std::move(made->box));
            if (closed_) {
                destroy(box);
                throw Error{Errc::unavailable, Fault::engine, "the server is stopping"};
            }
            Handed result = give(box, limits, tag);
            result.message.phases = std::move(made->phases);
            done(std::move(result));
        } catch (const Error& error) {
            done(std::unexpected{error});
        }
    });
}

// What fails at once is told as what fails later.
void Boxes::make(Plan plan, const std::function<void(Result<Made>)>& done) {
    try {
        chores_.start<Made>(factory_.begin(std::move(plan)), done);
    } catch (const Error& error) {
        done(std::unexpected{error});
    }
}

Plan Boxes::plan_of(const wire::CreateBox& order, const wire::BoxLimits& limits) const {
    const std::string engine = order.engine.empty() ? std::string{kPooledEngine} : order.engine;
    if (order.from_snapshot.empty()) return factory_.plan(order.template_digest, engine, limits);
    const wire::SnapshotInfo& from = snapshots_.find(order.from_snapshot);
    if (!order.engine.empty() && order.engine != from.engine) {
        throw Error{Errc::failed_precondition,
                    "the snapshot is one of a " + from.engine + ", not of a " + order.engine};
    }
    Plan plan = factory_.plan(from.template_digest, from.engine, limits);
    plan.disk = Plan::Disk::of_snapshot;
    plan.snapshot = from.id;
    if (from.memory) plan.memory = factory_.rooms().memories.open(from.id);
    return plan;
}

// The box becomes the owner's, or goes.
Boxes::Handed Boxes::give(Box& box, const wire::BoxLimits& limits, const std::string& owner_tag) {
    if (box.record.engine == kPooledEngine) {
        pool_.note_use(box.record.template_digest);
        refill_later(kRefillDelay);
    }
    try {
        factory_.hand_out(box, limits, owner_tag);
        return handed(box);
    } catch (const Error&) {
        destroy(box);
        throw;
    }
}

Box* Boxes::take_warm(const std::string& template_digest) {
    while (const std::optional<std::string> id = pool_.take(template_digest)) {
        Box& box = boxes_.at(*id);
        if (engine::has_ended(box.process)) continue;  // which is about to be noticed
        box.record.warm = true;
        return &box;
    }
    return nullptr;
}

Boxes::Handed Boxes::attach(const std::string& id) {
    Box& box = handed_out(id);
    if (box.listeners) {
        revoke(*box.listeners);
        box.listeners.reset();
    }
    box.listeners = box.netns.make_listeners();
    return handed(box);
}

void Boxes::kill(const std::string& id, KillHandler done) {
    if (const auto stored = stored_.find(id); stored != stored_.end()) {
        killers_[id].push_back(std::move(done));
        if (!stored->second.busy) discard_stored(id);  // else as soon as it is not
        return;
    }
    if (parking_.contains(id)) {
        killers_[id].push_back(std::move(done));  // once it is stored
        return;
    }
    Box& box = handed_out(id);
    killers_[id].push_back(std::move(done));
    destroy(box);
}

Box& Boxes::free_to_change(const std::string& id) {
    Box& box = handed_out(id);
    if (box.record.held)
        throw Error{Errc::failed_precondition, Fault::oyat_operator, "the operator holds it"};
    if (box.busy) throw Error{Errc::failed_precondition, "it is being copied"};
    return box;
}

void Boxes::set_frozen(const std::string& id, bool frozen, DoneHandler done) {
    Box& box = handed_out(id);
    if (box.record.held && !frozen)
        throw Error{Errc::failed_precondition, Fault::oyat_operator, "the operator holds it"};
    if (!frozen) {
        if (box.busy) throw Error{Errc::failed_precondition, "it is being copied"};
        box.group.thaw();
        box.record.frozen = false;
        factory_.keep(box);
        return done({});
    }
    if (!box.record.held && !box.group.freeze(kFreezeWait)) {
        box.group.thaw();
        throw Error{Errc::unavailable, Fault::engine, "a process of the sandbox can't be stopped right now"};
    }
    box.record.frozen = true;
    // The disk first: a record that says "paused" speaks of what is there.
    sync_disk(id, [this, id, done](const Result<engine::Nothing>& synced) {
        try {
            if (!synced) throw synced.error();
            const Box* paused = living_box(id);
            if (paused == nullptr) throw Error{Errc::unavailable, "the sandbox ended meanwhile"};
            factory_.keep_durably(paused->record);
            done({});
        } catch (const Error& error) {
            done(std::unexpected{error});
        }
    });
}

void Boxes::update(const std::string& id, const wire::BoxLimits& limits) {
    factory_.set_limits(handed_out(id), or_throw(options_.limits.judge(limits)));
}

Fd Boxes::dial(const std::string& id, std::uint32_t port) {
    if (port == 0 || port > 65'535) throw Error{Errc::invalid_argument, "a port is 1 to 65535"};
    return handed_out(id).netns.dial(static_cast<std::uint16_t>(port));
}

std::vector<wire::BoxStats> Boxes::stats(const std::vector<std::string>& ids) {
    if (ids.size() > kMaxStats) throw Error{Errc::invalid_argument, "too many ids in one request"};
    std::vector<wire::BoxStats> all;
    for (const std::string& id : ids) {
        const auto found = boxes_.find(id);
        if (found == boxes_.end() || found->second.record.stage != Stage::handed_out) continue;
        all.push_back(factory_.stats(found->second));
        factory_.refresh_facts(found->second, all.back());
    }
    return all;
}

wire::BoxList Boxes::list(const std::string& after) const {
    std::map<std::string_view, const BoxRecord*> records;
    for (auto at = boxes_.upper_bound(after); at != boxes_.end(); ++at) {
        if (at->second.record.stage == Stage::handed_out) records.emplace(at->first, &at->second.record);
    }
    for (auto at = stored_.upper_bound(after); at != stored_.end(); ++at)
        records.emplace(at->first, &at->second.record);

    wire::BoxList list;
    std::size_t bytes = 0;
    for (auto at = records.begin(); at != records.end(); ++at) {
        list.boxes.push_back(facts(*at->second));
        bytes += wire::encode(list.boxes.back()).size() + 8;
        if (bytes > kListBytes) {
            list.more = std::next(at) != records.end();
            break;
        }
    }
    return list;
}

Boxes::Handed Boxes::handed(const Box& box) const {
    const netns::Listeners& listeners = box.listeners.value();
    Handed result;
    result.message.box = facts(box.record);
    result.fds.push_back(factory_.connect_agent(box));
    for (const Fd* shared : {&box.process.pidfd, &listeners.proxy, &listeners.dns_udp, &listeners.dns_tcp}) {
        result.fds.push_back(duplicate(shared->get()));
    }
    return result;
}

wire::Box Boxes::facts(const BoxRecord& record) const {
    const wire::EngineInfo engine = factory_.engine_of(record).info();
    const bool stored = record.stage == Stage::stored;
    return {.id = record.id,
            .generation = record.generation,
            .engine = record.engine,
            .boundary = engine.boundary,
            .template_digest = record.template_digest,
            .limits = record.limits,
            .frozen = record.frozen,
            .warm = record.warm,
            .created_ms = record.created_ms,
            .owner_tag = record.owner_tag,
            .disk_limit_by = options_.disk_limit_by,
            .kernel = engine.kernel,
            .held = record.held,
            .egress_off = record.egress_off,
            .stored = stored,
            .has_memory = stored && factory_.rooms().memories.has(record.id)};
}

std::size_t Boxes::living() const {
    const auto owned = [](const auto& entry) { return entry.second.record.stage == Stage::handed_out; };
    return static_cast<std::size_t>(std::ranges::count_if(boxes_, owned));
}

bool Boxes::uses_template(std::string_view digest) const {
    const auto is_of = [&](const auto& entry) { return entry.second.record.template_digest == digest; };
    const auto is_saved_of = [&](const auto& entry) { return entry.second.template_digest == digest; };
    if (std::ranges::any_of(stored_, is_of) || std::ranges::any_of(snapshots_.all(), is_saved_of))
        return true;
    return std::ranges::any_of(boxes_, [&](const auto& entry) {
        const BoxRecord& record = entry.second.record;
        return record.stage == Stage::handed_out && record.template_digest == digest;
    });
}

}  // namespace oyat::keeper
