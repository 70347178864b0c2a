#include <dirent.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <deque>
#include <optional>
#include <set>

#include "agent/directory_names.hpp"
#include "agent/file_entry.hpp"
#include "agent/file_streams.hpp"
#include "agent/places.hpp"
#include "agent/slice.hpp"
#include "agent/watch_changes.hpp"
#include "agent/watch_tree.hpp"
#include "wire/codec.hpp"

namespace oyat::agent {
namespace {

using wire::WatchKind;

constexpr std::uint32_t kMask = IN_CREATE | IN_MODIFY | IN_ATTRIB | IN_DELETE | IN_DELETE_SELF |
                                IN_MOVED_FROM | IN_MOVED_TO | IN_MOVE_SELF | IN_ONLYDIR;
constexpr std::size_t kMaxDirectories = 65'536;
// Names remembered, so that they are not reported twice.
constexpr std::size_t kMaxSeen = 65'536;
// Whoever makes changes as fast as they are read must not keep everybody else waiting.
constexpr int kReadsPerTurn = 8;
// Bytes of a directory whose names are reported in one go: about a hundred of them.
constexpr std::size_t kReportedPiece = 4096;

// File systems whose changes may come from elsewhere, unseen by this kernel.
bool is_network_mount(int fd) {
    struct stat found{};
    struct stat root{};
    struct statfs type{};
    if (::fstat(fd, &found) != 0 || ::stat("/", &root) != 0 || ::fstatfs(fd, &type) != 0) return false;
    if (found.st_dev == root.st_dev) return false;  // an engine may serve the whole sandbox through FUSE
    switch (static_cast<std::uint32_t>(type.f_type)) {
        case 0x6969:      // NFS
        case 0x517B:      // SMB
        case 0xFF534D42:  // CIFS
        case 0xFE534D42:  // SMB2
        case 0x65735546:  // FUSE
        case 0x01021997:  // 9P
        case 0x00C36400:  // Ceph
            return true;
        default: return false;
    }
}

// Reports what happens in a directory, or in a tree. What the host does not take stays in the kernel, and
// what that can't hold is an overflow.
class WatchStream final : public Stream {
public:
    WatchStream(FileJob& job, Fd inotify, std::string path, const wire::Watch& request, WatchCount& count)
        : Stream{job.connection, job.id},
          loop_{job.loop},
          users_{job.users},
          user_{std::move(job.actor.user)},
          inotify_{std::move(inotify)},
          path_{std::move(path)},
          recursive_{request.recursive},
          with_entry_{request.with_entry},
          network_mounts_{request.allow_network_mounts},
          count_{count},
          readiness_{job.loop, [this](std::uint32_t) { take_events(); }},
          steps_{job.loop, [this] { step(); }} {
        ++count_.open;
        unwatched_.push_back({.parent = WatchTree::kNoParent});
    }
    ~WatchStream() override { --count_.open; }

    void writable() override {
        if (is_looking()) steps_.resume();
        send_changes();
    }

private:
    // A directory that has been heard of and is not watched yet.
    struct Unwatched {
        int parent = 0;
        std::string name;
        bool report = false;  // what is in it is news
    };

    // A watched directory whose names have not all been read yet.
    struct Scan {
        Fd directory;
        int watch = 0;
        bool report = false;
    };

    [[nodiscard]] bool is_looking() const { return scan_ || !unwatched_.empty(); }
    // Before it is ready there is nothing to report, and nobody to wait for.
    [[nodiscard]] bool must_wait() const { return ready_ && changes_.full(); }

    void step() {
        if (Status status = look(); status.code != 0) {
            steps_.pause();
            return end(status);
        }
        if (!is_looking() || must_wait()) steps_.pause();
        take_events();
    }

    // Looks at directories that are not watched yet.
    Status look() {
        const ActingAs acting{user_};
        users_.refresh();
        const Slice slice;
        while (is_looking() && !must_wait() && slice.left()) {
            if (scan_) {
                scan();
            } else {
                const Unwatched next = std::move(unwatched_.front());
                unwatched_.pop_front();
                if (Status status = watch(next); status.code != 0) return status;
            }
            if (tree_.size() + unwatched_.size() > kMaxDirectories) {
                return refusal(Errc::exhausted, "more than 65536 directories to watch");
            }
        }
        return {};
    }

    Status watch(const Unwatched& place) {
        const bool is_root = place.parent == WatchTree::kNoParent;
        if (!is_root && !tree_.contains(place.parent)) return {};  // gone with its parent
        // By its path each time: a descriptor that stayed open would hold back the news of its removal.
        Answer<Fd> directory = is_root ? open_path(path_, O_RDONLY | O_DIRECTORY)
                                       : open_path(absolute(join(tree_.path(place.parent), place.name)),
                                                   O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
        if (!directory || (!network_mounts_ && is_network_mount(directory->get()))) {
            return is_root && !directory ? directory.error() : Status{};
        }
        const int watch = ::inotify_add_watch(inotify_.get(), path_of_fd(directory->get()).c_str(), kMask);
        if (watch < 0 && errno == ENOSPC) return refusal(Errc::exhausted, "watch limit reached", ENOSPC);
        if (watch < 0) return is_root ? path_refusal(errno, path_) : Status{};
        if (is_root) root_watch_ = watch;
        tree_.put(watch, place.parent, place.name);
        if (recursive_) {
            scan_ = Scan{.directory = *std::move(directory), .watch = watch, .report = place.report};
        }
        return {};
    }

    // What was put into a new directory before it was watched gave no event. What is put there from now on
    // gives one, so names found here that come as events too are reported once: no event is taken before all
    // of the directory is read.
    void scan() {
        const int directory = scan_->directory.get();
        const int watch = scan_->watch;
        const bool report = scan_->report;
        const std::string base = tree_.path(watch);
        const auto found = [&](std::string_view name_view, unsigned char type) {
            std::string name{name_view};
            const bool is_news = seen_.size() >= kMaxSeen || !report || seen_.emplace(watch, name).second;
            if (report && is_news) add(WatchKind::create, join(base, name));
            struct stat entry{};
            const bool unsure =
                type == DT_UNKNOWN && ::fstatat(directory, name.c_str(), &entry, AT_SYMLINK_NOFOLLOW) == 0;
            if (type != DT_DIR && !(unsure && S_ISDIR(entry.st_mode))) return;
            unwatched_.push_back({.parent = watch, .name = std::move(name), .report = report});
        };
        const std::size_t piece = report ? kReportedPiece : Loop::kScratch;
        if (read_directory(directory, loop_.scratch(), piece, found) <= 0) scan_.reset();
    }

    void take_events() {
        if (!scan_) {
            const ActingAs acting{user_};
            users_.refresh();
            for (int reads = 0; reads < kReadsPerTurn && !changes_.full(); ++reads) {
                const ssize_t got = ::read(inotify_.get(), loop_.scratch(), Loop::kScratch);
                if (got <= 0) {
                    settle();
                    break;
                }
                for (ssize_t at = 0; at < got;) {
                    const auto* event = reinterpret_cast<const inotify_event*>(loop_.scratch() + at);
                    at += static_cast<ssize_t>(sizeof *event + event->len);
                    take(*event, event->len > 0 ? std::string{event->name} : std::string{});
                }
            }
        }
        if (is_looking() && !must_wait()) steps_.resume();
        send_changes();
    }

    void take(const inotify_event& event, const std::string& name) {
        if ((event.mask & IN_Q_OVERFLOW) != 0) {
            add(WatchKind::overflow, "");
            // Directories may have been missed too.
            if (recursive_) unwatched_.push_back({.parent = WatchTree::kNoParent});
            return;
        }
        if (!tree_.contains(event.wd)) return;
        if ((event.mask & IN_IGNORED) != 0) return tree_.remove(event.wd);
        if (name.empty()) return take_own(event);
        const std::string path = join(tree_.path(event.wd), name);
        const bool directory = (event.mask & IN_ISDIR) != 0 && recursive_;
        if ((event.mask & (IN_CREATE | IN_MOVED_TO)) != 0) {
            if (seen_.erase({event.wd, name}) == 0) add(WatchKind::create, path);
            if (directory) arrived(event, name);
        }
        if ((event.mask & IN_MODIFY) != 0) add(WatchKind::write, path);
        if ((event.mask & IN_ATTRIB) != 0) add(WatchKind::chmod, path);
        if ((event.mask & (IN_DELETE | IN_MOVED_FROM)) != 0) {
            seen_.erase({event.wd, name});
            add((event.mask & IN_DELETE) != 0 ? WatchKind::remove : WatchKind::rename, path);
            const auto child = tree_.child(event.wd, name);
            if (directory && child && (event.mask & IN_MOVED_FROM) != 0) moving_[event.cookie] = *child;
        }
    }

    // Of a directory itself. Its parent reports the same, unless it is the watched one.
    void take_own(const inotify_event& event) {
        if (event.wd != root_watch_) return;
        if ((event.mask & IN_ATTRIB) != 0) add(WatchKind::chmod, ".");
        if ((event.mask & IN_DELETE_SELF) != 0) add(WatchKind::remove, ".");
        if ((event.mask & IN_MOVE_SELF) != 0) add(WatchKind::rename, ".");
    }

    void arrived(const inotify_event& event, const std::string& name) {
        const auto moved = moving_.find(event.cookie);
        if ((event.mask & IN_MOVED_TO) != 0 && moved != moving_.end()) {
            tree_.put(moved->second, event.wd, name);
            moving_.erase(moved);
        } else {
            unwatched_.push_back({.parent = event.wd, .name = name, .report = true});
        }
    }

    // No event is left: a directory that has not arrived anywhere has moved out.
    void settle() {
        seen_.clear();
        for (const auto& [cookie, watch] : std::exchange(moving_, {})) {
            for (const int each : tree_.family(watch)) {
                ::inotify_rm_watch(inotify_.get(), each);
                tree_.remove(each);
            }
        }
    }

    void add(WatchKind kind, std::string name) {
        if (changes_.repeats(kind, name)) return;
        wire::WatchChange change{.kind = kind, .name = std::move(name)};
        if (with_entry_ &&
            (kind == WatchKind::create || kind == WatchKind::write || kind == WatchKind::chmod)) {
            auto entry = describe_path(change.name == "." ? path_ : absolute(change.name), users_);
            if (entry) change.entry = *std::move(entry);
        }
        changes_.add(std::move(change));
    }

    [[nodiscard]] std::string absolute(const std::string& below) const {
        return path_ == "/" ? path_ + below : path_ + "/" + below;
    }

    void send_changes() {
        if (!ready_ && !is_looking() && root_watch_ >= 0) {
            event_ = wire::encode(wire::WatchEvents{.ready = true});
            ready_ = true;
        }
        while (ready_ && (!event_.empty() || !changes_.empty())) {
            if (event_.empty()) event_ = changes_.take_event();
            if (window() < event_.size()) break;
            send_event(event_);
            event_.clear();
        }
        if (!scan_ && !changes_.full()) {
            readiness_.arm(inotify_.get(), EPOLLIN);
        } else {
            readiness_.disarm();
        }
    }

    Loop& loop_;
    Users& users_;
    User user_;
    Fd inotify_;
    std::string path_;
    bool recursive_;
    bool with_entry_;
    bool network_mounts_;
    WatchCount& count_;
    Readiness readiness_;
    Steps steps_;
    WatchTree tree_;
    int root_watch_ = -1;
    bool ready_ = false;
    std::deque<Unwatched> unwatched_;
    std::optional<Scan> scan_;
    std::set<std::pair<int, std::string>> seen_;  // found by a scan; their events may still be on the way
    std::map<std::uint32_t, int> moving_;         // by cookie: left one place, not arrived at another
    WatchChanges changes_;
    std::string event_;  // encoded, waits for credit
};

}  // namespace

Answer<std::unique_ptr<Stream>> watch_directory(FileJob job, const wire::Watch& request, WatchCount& count) {
    if (count.open >= WatchCount::kMost) return refused(Errc::exhausted, "more than 64 watches");
    const Answer<std::string> path = job.actor.resolve(request.path);
    if (!path) return std::unexpected{path.error()};
    const ActingAs acting{job.actor.user};
    const Answer<Fd> root = open_path(*path, O_RDONLY | O_DIRECTORY);
    if (!root && root.error().err == ENOTDIR && open_path(*path, O_PATH)) {
        return refused(Errc::invalid_argument, "path " + quoted(*path) + " is not a directory", ENOTDIR);
    }
    if (!root) return std::unexpected{root.error()};
    if (!request.allow_network_mounts && is_network_mount(root->get())) {
        return refused(Errc::invalid_argument, "path " + quoted(*path) + " is on a network file system");
    }
    Fd inotify{::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
    if (!inotify && errno == EMFILE) return refused(Errc::exhausted, "watch limit reached", EMFILE);
    if (!inotify) return refused_errno(errno, "watch");
    return std::make_unique<WatchStream>(job, std::move(inotify), *path, request, count);
}

}  // namespace oyat::agent
