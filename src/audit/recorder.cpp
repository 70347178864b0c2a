#include "audit/recorder.hpp"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "audit/segment_file.hpp"
#include "audit/tail.hpp"
#include "base/log.hpp"
#include "base/throwing.hpp"
#include "core/event_json.hpp"

namespace oyat::audit {
namespace {

// What is refused while the disk is full, because something would begin. All other events tell how what is
// there goes on and ends, or what was refused: the reserve is for them.
bool begins_something(std::string_view type) {
    constexpr std::array<std::string_view, 7> kBeginnings{
        "sandbox.requested", "sandbox.created", "command.requested", "file.written",
        "file.made",         "file.moved",      "file.composed"};
    return std::ranges::find(kBeginnings, type) != kBeginnings.end();
}

Error no_record(const std::string& why) {
    return Error{Errc::unavailable, Fault::oyat_operator,
                 "the record cannot be written (" + why + "), so nothing new is started"};
}

// Its last line is the seal of its end. Asked for each sandbox that ended lately, so not by way of the
// keeper.
bool is_closed(const std::filesystem::path& segment) {
    const Fd file{::open(segment.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
    return file && read_tail(file.get()).record.find("\"type\":\"audit.sealed\"") != std::string::npos;
}

}  // namespace

Recorder::Recorder(Executor executor, const Clock& clock, core::Keeper& keeper, RecorderOptions options)
    : executor_{executor},
      clock_{clock},
      keeper_{keeper},
      options_{std::move(options)},
      sync_timer_{executor, [this] { tasks_.spawn(sync_dirty()); }},
      noise_timer_{executor, [this] { report_suppressed(); }},
      tasks_{executor} {}

Recorder::~Recorder() = default;

Task<> Recorder::open() {
    for (const SegmentFile& file : list_segments(options_.directory)) {
        // An empty one was only opened ahead: what its first line has to name stands in the one before.
        if (file.bytes > 0) newest_segment_[file.name.chain] = file.name.segment;
    }
    server_ = co_await open_chain(std::string{kServerChain});
    last_seq_ = server_->log.seq_found();
    full_ = co_await open_chain(std::string{kFullDiskChain});
    if (!reserve_space()) disk_is_full();
}

void Recorder::keep_house() {
    tasks_.spawn(seal_hourly());
}

Recorder::Chain& Recorder::chain_of(const std::string& sandbox) {
    if (server_ == nullptr) throw no_record("it is closed");
    const auto found = chains_.find(sandbox);
    return found == chains_.end() ? *server_ : *found->second;
}

Task<Recorder::Chain*> Recorder::open_chain(std::string name) {
    if (const auto found = chains_.find(name); found != chains_.end()) co_return found->second.get();
    const auto known = newest_segment_.find(name);
    const std::uint32_t segment = known == newest_segment_.end() ? 1 : known->second;
    Fd file = co_await keeper_.open_audit(name, segment);
    if (const auto found = chains_.find(name); found != chains_.end()) co_return found->second.get();
    auto chain = std::make_unique<Chain>(Log{name, segment, std::move(file), clock_});
    after_write(*chain);
    co_return chains_.emplace(std::move(name), std::move(chain)).first->second.get();
}

Task<> Recorder::prepare(std::string sandbox) {
    try {
        co_await open_chain(std::move(sandbox));
    } catch (const Error& error) {
        if (error.code() == Errc::canceled) throw;
        throw no_record(error.message());
    }
}

void Recorder::append(const core::Event& event) {
    last_seq_ = std::max(last_seq_, event.seq);
    Chain& chain = chain_of(event.sandbox);
    if (is_noise(event.type) && !chain.noise.admit(clock_.mono())) {
        if (!noise_timer_.armed()) noise_timer_.arm(std::chrono::seconds{1});
        return;
    }
    write(chain, event);
    const bool last = event.type == "sandbox.ended" || event.type == "sandbox.failed";
    if (last && &chain != server_ && ending_.insert(event.sandbox).second) {
        tasks_.spawn(end_chain_later(event.sandbox));
    }
}

void Recorder::write(Chain& chain, const core::Event& event) {
    const std::string record = core::to_json_text(event);
    try {
        if (!disk_full_ && try_write(chain, record)) return;
        if (begins_something(event.type)) {
            write_own(*full_, "audit.refused", {{"refused", event.type}, {"by_sandbox", event.sandbox}});
            throw Error{Errc::exhausted, "the disk is full"};
        }
        full_->log.append(record);
        after_write(*full_);
    } catch (const Error& error) {
        throw no_record(error.message());
    }
}

// False when there was no room.
bool Recorder::try_write(Chain& chain, const std::string& record) {
    try {
        chain.log.append(record);
        after_write(chain);
        return true;
    } catch (const Error& error) {
        if (error.code() != Errc::exhausted) throw;
        disk_is_full();
        return false;
    }
}

// For lines that tell of the record itself: when they cannot be written, the next event says so to its
// caller.
void Recorder::write_own(Chain& chain, std::string_view type, boost::json::object fields) {
    try {
        chain.log.append_own(type, std::move(fields), last_seq_);
        after_write(chain);
    } catch (const Error& error) {
        log::error("a line of the record was not written", {{"type", type}, {"why", error.what()}});
    }
}

void Recorder::after_write(Chain& chain) {
    chain.dirty = true;
    if (!sync_timer_.armed() && !syncing_) sync_timer_.arm(options_.sync_within);
    const bool ready = server_ != nullptr && full_ != nullptr;
    if (ready && &chain != full_) rotate_when_full(chain);  // a new segment would have no space of its own
}

void Recorder::rotate_when_full(Chain& chain) {
    const auto reached = [&](std::uint64_t quarters) {
        return chain.log.bytes() >= options_.segment_bytes / 4 * quarters ||
               chain.log.lines_written() >= options_.segment_lines / 4 * quarters;
    };
    if (reached(3) && !chain.next_asked) {
        chain.next_asked = true;
        tasks_.spawn(open_next(chain.log.chain()));
    }
    if (!reached(4) || !chain.next) return;
    Fd next = *std::exchange(chain.next, std::nullopt);
    chain.next_asked = false;  // when it fails, a later line asks again
    try {
        chain.log.append_own("audit.sealed", {{"reason", "rotated"}}, last_seq_);
        if (&chain != server_) seal_into_server(chain, "rotated");
        chain.log.continue_in(std::move(next), last_seq_);
    } catch (const Error& error) {
        log::error("a log could not go on in its next segment",
                   {{"chain", chain.log.chain()}, {"why", error.what()}});
    }
}

Task<> Recorder::open_next(std::string name) {
    Fd next;
    try {
        const auto asked = chains_.find(name);
        if (asked == chains_.end()) co_return;
        next = co_await keeper_.open_audit(name, asked->second->log.segment() + 1);
    } catch (const Error& error) {
        log::warn("the next segment of a log could not be opened yet",
                  {{"chain", name}, {"why", error.what()}});
    }
    const auto chain = chains_.find(name);
    if (chain == chains_.end()) co_return;
    if (next) {
        chain->second->next = std::move(next);
    } else {
        chain->second->next_asked = false;  // the next line asks again
    }
}

void Recorder::seal_into_server(Chain& chain, std::string_view reason) {
    chain.sealed_bytes = chain.log.bytes();
    chain.sealed_segment = chain.log.segment();
    write_own(*server_, "audit.sealed",
              {{"chain", chain.log.chain()},
               {"segment", chain.log.segment()},
               {"bytes", chain.log.bytes()},
               {"h", to_hex(chain.log.head())},
               {"reason", reason}});
}

Task<> Recorder::end_chain_later(std::string name) {
    co_await sleep_for(options_.seal_after_end);
    end_chain(name);
}

void Recorder::end_chain(const std::string& name) {
    ending_.erase(name);
    const auto found = chains_.find(name);
    if (found == chains_.end()) return;
    Chain& chain = *found->second;
    write_own(chain, "audit.sealed", {{"reason", "end"}});
    seal_into_server(chain, "end");
    closed_files_.push_back(chain.log.file());
    newest_segment_.erase(name);
    chains_.erase(found);
}

Task<> Recorder::finish(std::string sandbox) {
    const auto known = newest_segment_.find(sandbox);
    if (known == newest_segment_.end() || is_closed(options_.directory / file_name({sandbox, known->second})))
        co_return;
    co_await open_chain(sandbox);
    end_chain(sandbox);
}

Task<> Recorder::seal_hourly() {
    for (;;) {
        co_await drop_old_segments();
        co_await sleep_for(options_.seal_every);
        for (const auto& [name, chain] : chains_) {
            const bool changed =
                chain->sealed_bytes != chain->log.bytes() || chain->sealed_segment != chain->log.segment();
            if (chain.get() != server_ && changed) seal_into_server(*chain, "hour");
        }
    }
}

Task<> Recorder::drop_old_segments() {
    const auto in_use = [this](const SegmentName& name) {
        const auto chain = chains_.find(name.chain);
        return chain != chains_.end() && chain->second->log.segment() <= name.segment;
    };
    try {
        const auto files = co_await on_worker(syncer_, [this] { return list_segments(options_.directory); });
        for (const SegmentFile& file : due_segments(files, clock_.wall(), options_.retention, in_use)) {
            co_await keeper_.drop_audit(file.name.chain, file.name.segment);
            write_own(*server_, "audit.dropped",
                      {{"chain", file.name.chain}, {"segment", file.name.segment}, {"bytes", file.bytes}});
        }
    } catch (const Error& error) {
        if (error.code() == Errc::canceled) throw;
        log::warn("old segments of the record were not dropped", {{"why", error.what()}});
    }
}

Task<> Recorder::sync_dirty() {
    if (std::exchange(syncing_, true)) co_return;
    std::vector<std::pair<std::string, std::shared_ptr<const Fd>>> files;
    for (const auto& [name, chain] : chains_) {
        if (std::exchange(chain->dirty, false)) files.emplace_back(name, chain->log.file());
    }
    for (auto& file : std::exchange(closed_files_, {})) files.emplace_back(kServerChain, std::move(file));
    std::vector<std::string> failed;
    co_await on_worker(syncer_, [&] {
        for (const auto& [name, file] : files) {
            if (::fdatasync(file->get()) != 0) failed.push_back(name);
        }
    });
    syncing_ = false;
    for (const std::string& name : failed) {
        log::error("a log did not reach the disk", {{"chain", name}});
        write_own(chain_of(name), "audit.gap", {{"reason", "not synced"}, {"chain", name}});
    }
    const bool more = std::ranges::any_of(chains_, [](const auto& entry) { return entry.second->dirty; });
    if (more && !sync_timer_.armed()) sync_timer_.arm(options_.sync_within);
}

void Recorder::report_suppressed() {
    bool any = false;
    for (const auto& [name, chain] : chains_) {
        const std::uint64_t count = chain->noise.take_suppressed();
        if (count == 0) continue;
        any = true;
        write_own(*chain, "audit.suppressed", {{"count", count}});
    }
    if (any) noise_timer_.arm(std::chrono::seconds{1});
}

void Recorder::disk_is_full() {
    if (std::exchange(disk_full_, true)) return;
    log::error(
        "the disk is full: new sandboxes, commands and writes are refused until there is room for the "
        "record");
    tasks_.spawn(wait_for_space());
}

Task<> Recorder::wait_for_space() {
    const auto room = [this] {
        struct statvfs facts{};
        return ::fstatvfs(full_->log.file()->get(), &facts) == 0 &&
               facts.f_bavail * facts.f_frsize >= options_.reserve_bytes && reserve_space();
    };
    while (!room()) co_await sleep_for(options_.look_for_space);
    disk_full_ = false;
    log::info("there is room for the record again");
}

// Blocks behind the end of the file, not seen in its size: only appending to it uses them, and nothing else
// can, not even what some file systems keep for root. What is held already is not taken twice.
bool Recorder::reserve_space() {
    const auto end = static_cast<off_t>(full_->log.bytes());
    const auto size = static_cast<off_t>(options_.reserve_bytes);
    return ::fallocate(full_->log.file()->get(), FALLOC_FL_KEEP_SIZE, end, size) == 0 || errno == EOPNOTSUPP;
}

Task<> Recorder::close() {
    co_await tasks_.close();
    sync_timer_.disarm();
    noise_timer_.disarm();
    for (const std::string& name : std::exchange(ending_, {})) end_chain(name);
    for (const auto& [name, chain] : chains_) {
        if (chain.get() != server_) seal_into_server(*chain, "stopped");
    }
    syncing_ = false;
    co_await sync_dirty();
    chains_.clear();
    server_ = full_ = nullptr;
}

}  // namespace oyat::audit
