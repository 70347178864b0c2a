#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "audit/log.hpp"
#include "audit/noise.hpp"
#include "audit/retention.hpp"
#include "core/event.hpp"
#include "core/keeper.hpp"
#include "io/task_group.hpp"
#include "io/timer.hpp"
#include "io/worker_pool.hpp"

namespace oyat::audit {

struct RecorderOptions {
    std::filesystem::path directory;            // where the keeper makes the files; only read here
    std::uint64_t reserve_bytes = 64ull << 20;  // of disk, held for what is recorded while the rest is full
    std::uint64_t segment_bytes = 64ull << 20;
    std::uint64_t segment_lines = 10'000;
    Millis sync_within{50};         // from a line to the start of its fdatasync
    Millis seal_after_end{10'000};  // exits of commands may come after the end of their sandbox
    Millis seal_every = std::chrono::hours{1};
    Millis look_for_space{5'000};  // while the disk is full
    Retention retention;
};

// The record of the whole server: one chain a sandbox and one for the server, in files that the keeper opens.
// Every chain's head is sealed into the server's when it ends, and hourly. All on one loop; fdatasync has a
// thread of its own.
class Recorder final : public core::AuditLog {
public:
    Recorder(Executor executor, const Clock& clock, core::Keeper& keeper, RecorderOptions options);
    ~Recorder() override;

    // Before anything else: opens the server's chains. Throws Error when there can be no record, and then no
    // server either.
    Task<> open();
    // Begins to seal hourly and to drop what is too old: once the logs of all sandboxes that live are open
    // again, so that none of those is taken for an old one.
    void keep_house();

    void append(const core::Event& event) override;
    Task<> prepare(std::string sandbox) override;
    // For a sandbox that ended and whose log may not have been sealed: the process died in between.
    Task<> finish(std::string sandbox);

    // Seals everything and waits until it is on the disk.
    Task<> close();

private:
    struct Chain {
        explicit Chain(Log opened) : log{std::move(opened)} {}
        Log log;
        NoiseLimit noise;
        std::optional<Fd> next;  // opened ahead, since a line cannot wait for the keeper
        bool next_asked = false;
        bool dirty = false;
        std::uint64_t sealed_bytes = 0;
        std::uint32_t sealed_segment = 0;
    };

    [[nodiscard]] Chain& chain_of(const std::string& sandbox);
    Task<Chain*> open_chain(std::string name);
    void write(Chain& chain, const core::Event& event);
    [[nodiscard]] bool try_write(Chain& chain, const std::string& record);
    void write_own(Chain& chain, std::string_view type, boost::json::object fields);
    void after_write(Chain& chain);

    void rotate_when_full(Chain& chain);
    Task<> open_next(std::string name);
    void seal_into_server(Chain& chain, std::string_view reason);
    void end_chain(const std::string& name);
    Task<> end_chain_later(std::string name);
    Task<> seal_hourly();
    Task<> drop_old_segments();

    Task<> sync_dirty();
    void report_suppressed();
    void disk_is_full();
    Task<> wait_for_space();
    [[nodiscard]] bool reserve_space();

    Executor executor_;
    const Clock& clock_;
    core::Keeper& keeper_;
    RecorderOptions options_;
    bool disk_full_ = false;  // what would start something new is refused, all else goes to full_
    std::uint64_t last_seq_ = 0;
    std::map<std::string, std::uint32_t> newest_segment_;  // of chains that were there at the start
    std::map<std::string, std::unique_ptr<Chain>> chains_;
    Chain* server_ = nullptr;  // null before open() and after close()
    Chain* full_ = nullptr;    // has its disk space beforehand, for what is recorded while there is none
    std::vector<std::shared_ptr<const Fd>> closed_files_;  // of chains that ended since the last fdatasync
    std::set<std::string> ending_;
    Timer sync_timer_;
    Timer noise_timer_;
    bool syncing_ = false;
    WorkerPool syncer_{1};
    TaskGroup tasks_;
};

}  // namespace oyat::audit
