#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include <optional>

#include "agent/copy_bytes.hpp"
#include "agent/file_entry.hpp"
#include "agent/file_streams.hpp"
#include "agent/places.hpp"
#include "agent/slice.hpp"
#include "agent/tree_copy.hpp"
#include "agent/tree_removal.hpp"

namespace oyat::agent {
namespace {

struct MovePlan {
    std::string source_path;
    std::string destination_path;
    Place source;
    Place destination;
};

Place borrow(const Place& place, std::string name) {
    return {.directory = Fd{::fcntl(place.directory.get(), F_DUPFD_CLOEXEC, 3)}, .name = std::move(name)};
}

// A rename, or, where the kernel cannot rename, a copy that takes its place in one moment, and the removal of
// the original.
class MoveStream final : public Stream {
public:
    MoveStream(FileJob& job, MovePlan plan)
        : Stream{job.connection, job.id},
          loop_{job.loop},
          users_{job.users},
          user_{std::move(job.actor.user)},
          plan_{std::move(plan)},
          steps_{job.loop, [this] { step(); }} {}

    void writable() override {
        if (answer_.empty()) return steps_.resume();
        if (window() < answer_.size()) return;
        send_event(answer_);
        end({});
    }

private:
    void step() {
        const ActingAs acting{user_};
        const Slice slice;
        Status status;
        while (status.code == 0 && answer_.empty()) {
            if (!slice.left()) return;
            status = advance();
        }
        steps_.pause();
        if (status.code != 0) return end(status);
        writable();
    }

    Status advance() {
        if (removal_) return remove();
        if (copy_) return copy();
        if (rename(plan_.source, plan_.destination)) return answer();
        if (errno != EXDEV)
            return path_refusal(errno, errno == ENOENT ? plan_.source_path : plan_.destination_path);
        unfinished_ = borrow(plan_.destination, unfinished_name());
        copy_.emplace(loop_, plan_.source, unfinished_, plan_.source_path);
        return {};
    }

    Status copy() {
        Status status = copy_->advance();
        if (status.code == 0 && !copy_->done()) return {};
        if (status.code == 0 && !rename(unfinished_, plan_.destination)) {
            status = path_refusal(errno, plan_.destination_path);
        }
        copy_.reset();
        failure_ = status;
        if (status.code != 0) {
            removal_.emplace(loop_, std::move(unfinished_), plan_.destination_path);
        } else {
            removal_.emplace(loop_, borrow(plan_.source, plan_.source.name), plan_.source_path);
        }
        return {};
    }

    // Of the original, or of a copy that came to nothing.
    Status remove() {
        const Status status = removal_->advance();
        if (status.code == 0 && !removal_->done()) return {};
        if (failure_.code != 0) return failure_;
        return status.code != 0 ? status : answer();
    }

    Status answer() {
        Answer<wire::FileEntry> entry = describe_path(plan_.destination_path, users_);
        if (!entry) return entry.error();
        answer_ = entry_event(*std::move(entry));
        return {};
    }

    static bool rename(const Place& from, const Place& to) {
        return ::renameat(from.directory.get(), from.name.c_str(), to.directory.get(), to.name.c_str()) == 0;
    }

    Loop& loop_;
    Users& users_;
    User user_;
    MovePlan plan_;
    Place unfinished_;
    std::optional<TreeCopy> copy_;
    std::optional<TreeRemoval> removal_;
    Status failure_;
    std::string answer_;
    Steps steps_;
};

}  // namespace

Answer<std::unique_ptr<Stream>> move_path(FileJob job, const wire::Move& request) {
    Answer<std::string> from = job.actor.resolve(request.source);
    if (!from) return std::unexpected{std::move(from).error()};
    Answer<std::string> to = job.actor.resolve(request.destination);
    if (!to) return std::unexpected{std::move(to).error()};
    if (*from == "/" || to->starts_with(*from + "/")) {
        return refused(Errc::invalid_argument, "path " + quoted(*from) + " cannot be moved into itself",
                       EINVAL);
    }
    if (!job.actor.named) found_top_directory(top_parent_of(*to), job.actor.user);
    const ActingAs acting{job.actor.user};
    Answer<Place> source = place_of(*from);
    if (!source) return std::unexpected{std::move(source).error()};
    struct stat found{};
    // Before parents are made for something that is not there.
    if (::fstatat(source->directory.get(), source->name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
        return std::unexpected{path_refusal(errno, *from)};
    }
    Answer<Place> destination = make_place(*to);
    if (!destination) return std::unexpected{std::move(destination).error()};
    return std::make_unique<MoveStream>(job, MovePlan{.source_path = *std::move(from),
                                                      .destination_path = *std::move(to),
                                                      .source = *std::move(source),
                                                      .destination = *std::move(destination)});
}

}  // namespace oyat::agent
