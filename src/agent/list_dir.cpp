#include <fcntl.h>

#include <algorithm>
#include <vector>

#include "agent/directory_names.hpp"
#include "agent/file_entry.hpp"
#include "agent/file_streams.hpp"
#include "agent/places.hpp"
#include "agent/slice.hpp"
#include "wire/codec.hpp"

namespace oyat::agent {
namespace {

constexpr std::size_t kMaxEntries = 1'000'000;
constexpr std::size_t kMaxNames = 64 * 1024 * 1024;  // bytes of names in memory
constexpr std::size_t kMaxLevels = 1000;
constexpr std::size_t kEventEntries = 256;
constexpr std::size_t kEventBytes = 48 * 1024;

// A walk through a tree, depth first, that goes as fast as the host takes the entries.
class ListDirStream final : public Stream {
public:
    ListDirStream(FileJob& job, Fd root, std::string path, std::uint32_t depth)
        : Stream{job.connection, job.id},
          loop_{job.loop},
          users_{job.users},
          user_{std::move(job.actor.user)},
          depth_{std::min<std::size_t>(depth == 0 ? 1 : depth, kMaxLevels)},
          steps_{job.loop, [this] { step(); }} {
        levels_.push_back({.directory = std::move(root), .path = path == "/" ? "" : std::move(path)});
    }

    void writable() override { steps_.resume(); }

private:
    struct Level {
        Fd directory;
        std::string path;
        DirectoryNames names;
        bool read = false;  // all of its names are known
    };

    void step() {
        const ActingAs acting{user_};
        users_.refresh();
        const Slice slice;
        do {
            if (!send_ready_event()) return steps_.pause();  // until writable()
            if (levels_.empty()) {
                steps_.pause();
                return end({});
            }
            advance();
        } while (slice.left());
    }

    // True when another entry may be looked up.
    bool send_ready_event() {
        const bool full = batch_.entries.size() >= kEventEntries || batch_bytes_ >= kEventBytes;
        const bool last = levels_.empty() && (!batch_.entries.empty() || batch_.truncated);
        if (ready_.empty() && (full || last)) {
            ready_ = wire::encode(batch_);
            batch_ = {};
            batch_bytes_ = 0;
        }
        if (ready_.empty()) return true;
        if (window() < ready_.size()) return false;
        send_event(ready_);
        ready_.clear();
        return true;
    }

    void advance() {
        Level& level = levels_.back();
        if (!level.read) return read_names(level);
        if (level.names.empty()) return levels_.pop_back();
        if (++listed_ > kMaxEntries) return truncate();
        const char* const name = level.names.take_first();
        Answer<wire::FileEntry> entry =
            describe(level.directory.get(), name, level.path + "/" + name, users_);
        if (!entry && entry.error().err == ENOENT) return;
        // A directory that may be read but not entered: its names are all there is.
        if (!entry) entry = wire::FileEntry{.path = level.path + "/" + name};
        const bool enter = entry->type == wire::FileType::directory;
        batch_bytes_ += wire::encode(*entry).size();
        batch_.entries.push_back(*std::move(entry));
        if (enter) descend(level, name);
    }

    void read_names(Level& level) {
        const std::size_t before = level.names.bytes();
        const int got = level.names.read_from(level.directory.get(), loop_.scratch(), Loop::kScratch);
        names_bytes_ += level.names.bytes() - before;
        if (names_bytes_ > kMaxNames) return truncate();
        if (got > 0) return;
        level.read = true;
        level.names.arrange();
    }

    void descend(const Level& level, const char* name) {
        if (levels_.size() >= depth_) {
            if (depth_ == kMaxLevels) batch_.truncated = true;
            return;
        }
        Answer<Fd> directory = open_at(level.directory.get(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
        if (!directory) return;  // it is listed; what is in it is not ours to see
        levels_.push_back({.directory = *std::move(directory), .path = level.path + "/" + name});
    }

    void truncate() {
        batch_.truncated = true;
        levels_.clear();
    }

    Loop& loop_;
    Users& users_;
    User user_;
    std::size_t depth_;
    std::vector<Level> levels_;
    std::size_t listed_ = 0;
    std::size_t names_bytes_ = 0;
    wire::FileEntries batch_;
    std::size_t batch_bytes_ = 0;
    std::string ready_;  // an event that waits for credit
    Steps steps_;
};

}  // namespace

Answer<std::unique_ptr<Stream>> list_directory(FileJob job, const wire::ListDir& request) {
    Answer<std::string> path = job.actor.resolve(request.path);
    if (!path) return std::unexpected{std::move(path).error()};
    const ActingAs acting{job.actor.user};
    Answer<Fd> root = open_path(*path, O_RDONLY | O_DIRECTORY);
    // ENOTDIR may also mean that there is no such path at all.
    if (!root && root.error().err == ENOTDIR && open_path(*path, O_PATH)) {
        return refused(Errc::invalid_argument, "path " + quoted(*path) + " is not a directory", ENOTDIR);
    }
    if (!root) return std::unexpected{std::move(root).error()};
    return std::make_unique<ListDirStream>(job, *std::move(root), *std::move(path), request.depth);
}

}  // namespace oyat::agent
