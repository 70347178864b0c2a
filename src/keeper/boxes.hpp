#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cgroup/oom_watch.hpp"
#include "keeper/box.hpp"
#include "keeper/box_factory.hpp"
#include "keeper/chores.hpp"
#include "keeper/create_rate.hpp"
#include "keeper/limit_policy.hpp"
#include "keeper/loop.hpp"
#include "keeper/oom_log.hpp"
#include "keeper/snapshots.hpp"
#include "keeper/warm_pool.hpp"
#include "layers/sweeper.hpp"

namespace oyat::keeper {

// All boxes of this state: those that were handed out, those that wait in the pool, and those that are on
// their way out. Orders come in by id; what happens by itself (a death, a kill for want of memory) goes out
// through `on_event`.
class Boxes {
public:
    using EventHandler = std::function<void(const wire::KeeperEvent&)>;
    using KillHandler = std::function<void(const wire::BoxStats& last)>;

    // A box with what its owner needs to serve it, in the order of CreateBox's reply.
    struct Handed {
        wire::BoxCreated message;
        std::vector<Fd> fds;
    };

    struct Options {
        LimitPolicy limits;
        WarmPool::Size pool;
        std::string disk_limit_by;
    };

    Boxes(Loop& loop, BoxFactory& factory, Snapshots& snapshots, cgroup::Parent& groups,
          layers::Sweeper& sweeper, Options options, EventHandler on_event);
    ~Boxes();
    Boxes(const Boxes&) = delete;
    Boxes& operator=(const Boxes&) = delete;

    // Takes a living box of a former keeper.
    void adopt(Box box);
    // Takes one that has only its disk, of a former keeper or of the time before the machine was started.
    void adopt_stored(BoxRecord record);

    // `done` may be called before this returns: a jail takes no time that matters. Throws what is refused at
    // once.
    using CreateHandler = std::function<void(Result<Handed>)>;
    void create(const wire::CreateBox& order, CreateHandler done);
    [[nodiscard]] Handed attach(const std::string& id);
    // `done` is called when no process of it is left.
    void kill(const std::string& id, KillHandler done);
    // What a pause acknowledged survives a power cut: then the sandbox is stored, without its memory.
    using DoneHandler = std::function<void(Result<void>)>;
    void set_frozen(const std::string& id, bool frozen, DoneHandler done);

    // Sandboxes on disk (boxes_stored.cpp, boxes_snapshots.cpp). As wire/keeper_snapshots.hpp has them.
    using StatsHandler = std::function<void(Result<wire::BoxStats>)>;
    void store(const std::string& id, bool memory, StatsHandler done);
    void wake(const std::string& id, CreateHandler done);
    void reset(const std::string& id, const std::string& snapshot, DoneHandler done);
    using SnapshotHandler = std::function<void(Result<wire::SnapshotInfo>)>;
    void make_snapshot(const std::string& id, bool memory, SnapshotHandler done);
    void remove_snapshot(const std::string& snapshot);
    void update(const std::string& id, const wire::BoxLimits& limits);

    // The operator's brakes (boxes_brakes.cpp), for those on disk too. Ids that are no more are passed over.
    // `done` hears who did not stand still within half a second: a process in an uninterruptible wait does so
    // when it can.
    using HoldHandler = std::function<void(std::vector<std::string> moving)>;
    void hold(const std::vector<std::string>& ids, const HoldHandler& done);
    // Those that were paused besides stay so.
    void release(const std::vector<std::string>& ids);
    void set_egress_off(const std::vector<std::string>& ids, bool off);
    [[nodiscard]] std::vector<std::string> owned_ids() const;  // of those that run and those on disk
    // It took memory that its control group does not count, as `what`. It ends as if the kernel had killed
    // it.
    void end_for_memory(const std::string& id, std::string_view what);
    [[nodiscard]] Fd dial(const std::string& id, std::uint32_t port);
    [[nodiscard]] std::vector<wire::BoxStats> stats(const std::vector<std::string>& ids);
    [[nodiscard]] wire::BoxList list(const std::string& after) const;

    [[nodiscard]] bool uses_template(std::string_view digest) const;
    // Keeps warm jails of a template before anybody asks.
    void warm_up(const std::string& digest);
    // No more pool entries of it; `done` when those that were are gone.
    void cool_down(const std::string& digest);

    // Pool entries (and with `everything` the sandboxes too) are destroyed; `done` when nothing of them is
    // left.
    enum class Extent { pool_only, everything };
    void close(Extent extent, std::function<void()> done);

    // How many were handed out.
    [[nodiscard]] std::size_t living() const;
    [[nodiscard]] const std::map<std::string, Box>& all() const { return boxes_; }
    [[nodiscard]] std::size_t stored() const { return stored_.size(); }

private:
    static constexpr const char* kPooledEngine = "jail";  // also what an order without an engine gets
    static constexpr Millis kRefillDelay{20};             // requests come first
    static constexpr Millis kRefillRetry{5000};           // after a failure: the template may be broken

    // One that has only its disk. Busy: something reads or changes that.
    struct Stored {
        BoxRecord record;
        bool busy = false;
    };
    // What a box that is to be stored waits with, until nothing of it runs.
    struct Parking {
        StatsHandler done;
        bool writing = false;                // its memory, at the moment
        std::optional<wire::BoxStats> last;  // it has ended meanwhile
    };

    Stored& idle_stored(const std::string& id);
    void memory_written(const std::string& id, Result<engine::Nothing> written);
    void park(Box& box, Parking parking);
    void take_down_later(const std::string& id, wire::BoxStats last, Millis delay);
    void sync_stored(const std::string& id, const wire::BoxStats& last);
    void sync_disk(const std::string& id, const std::function<void(Result<engine::Nothing>)>& done);
    void stop_being_busy(const std::string& id);
    void discard_stored(const std::string& id);
    void begin_reset(const std::string& id, DoneHandler done);
    void snapshot_of_stored(const std::string& id, wire::SnapshotInfo info, SnapshotHandler done);
    void snapshot_of_frozen(Box& box, wire::SnapshotInfo info, SnapshotHandler done);
    void snapshot_with_memory(Box& box, wire::SnapshotInfo info, SnapshotHandler done);
    void snapshot_by_storing(wire::SnapshotInfo info, SnapshotHandler done);
    void keep_snapshot(wire::SnapshotInfo info, const Result<engine::Nothing>& copied, bool still_there,
                       const SnapshotHandler& done);
    void make(Plan plan, const std::function<void(Result<Made>)>& done);
    BoxRecord* owned_record(const std::string& id);  // of one that runs or is stored; null: neither
    [[nodiscard]] Plan plan_of(const wire::CreateBox& order, const wire::BoxLimits& limits) const;

    Box& handed_out(const std::string& id);
    Box& free_to_change(const std::string& id);  // handed out, not held, and nothing copies it
    Box* living_box(const std::string& id);      // null: none was handed out, or it is on its way out
    void stand_still(const std::vector<std::string>& ids, MonoTime end, const HoldHandler& done);
    Box& insert(Box box);
    Box* take_warm(const std::string& template_digest);  // null when none is ready
    Handed give(Box& box, const wire::BoxLimits& limits, const std::string& owner_tag);
    [[nodiscard]] wire::BoxStats last_stats(const Box& box) const;
    void destroy(Box& box);
    void on_ended(const std::string& id);
    void dismantle_later(std::string id, Millis delay);
    void refill_later(Millis delay);
    void refill();
    void put_in_pool(const std::string& digest, Result<Made> made);
    void drop_surplus();
    void trim_later();
    void finish_closing();
    [[nodiscard]] Handed handed(const Box& box) const;
    [[nodiscard]] wire::Box facts(const BoxRecord& record) const;
    void on_oom_hint();
    void on_victim(const OomVictim& victim);
    void report_oom(const std::string& id);

    Loop& loop_;
    BoxFactory& factory_;
    Snapshots& snapshots_;
    layers::Sweeper& sweeper_;
    Options options_;
    EventHandler on_event_;
    WarmPool pool_;
    CreateRate rate_;
    cgroup::OomWatch oom_watch_;
    OomLog oom_log_;
    std::map<std::string, Box> boxes_;
    std::map<std::string, Stored> stored_;
    std::map<std::string, Parking> parking_;                   // of boxes that end only to be stored
    std::map<std::string, std::size_t> copied_from_;           // snapshots that boxes are being made of
    std::map<std::string, std::vector<KillHandler>> killers_;  // of boxes that were told to end
    std::map<std::string, Loop::TimerId> leftovers_;           // of dead boxes, by the timer of the next try
    Loop::TimerId refill_timer_ = 0;
    Loop::TimerId trim_timer_ = 0;
    std::function<void()> closed_;
    Chores chores_;
};

}  // namespace oyat::keeper
