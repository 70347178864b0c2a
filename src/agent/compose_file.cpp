#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vector>

#include "agent/copy_bytes.hpp"
#include "agent/file_entry.hpp"
#include "agent/file_streams.hpp"
#include "agent/places.hpp"
#include "agent/slice.hpp"

namespace oyat::agent {
namespace {

bool same_file(const struct stat& a, const struct stat& b) {
    return a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

// Where the composed file goes: beside its final place first, so that a source may be the destination too,
// and a failure leaves everything as it was.
struct Destination {
    Place place;
    std::string temporary;
    Fd file;
    struct stat before{};  // of what is there already; st_nlink 0 = nothing
};

Answer<Destination> open_destination(std::string path) {
    Destination destination;
    // A link stays and its target is replaced.
    if (const Answer<Fd> there = open_path(path, O_PATH)) {
        if (::fstat(there->get(), &destination.before) != 0)
            return std::unexpected{path_refusal(errno, path)};
        if (!S_ISREG(destination.before.st_mode)) {
            return refused(Errc::invalid_argument, "path " + quoted(path) + " is not a regular file", EINVAL);
        }
        char target[4096];
        const ssize_t length = ::readlink(path_of_fd(there->get()).c_str(), target, sizeof target);
        if (length > 0) path.assign(target, static_cast<std::size_t>(length));
    }
    Answer<Place> place = make_place(path);
    if (!place) return std::unexpected{std::move(place).error()};
    destination.place = *std::move(place);
    destination.temporary = unfinished_name();
    Answer<Fd> file = open_at(destination.place.directory.get(), destination.temporary.c_str(),
                              O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (!file) return std::unexpected{path_refusal(static_cast<int>(file.error().err), path)};
    destination.file = *std::move(file);
    return destination;
}

class ComposeStream final : public Stream {
public:
    ComposeStream(FileJob& job, std::vector<std::string> sources, std::string path, Destination destination)
        : Stream{job.connection, job.id},
          loop_{job.loop},
          users_{job.users},
          user_{std::move(job.actor.user)},
          sources_{std::move(sources)},
          path_{std::move(path)},
          destination_{std::move(destination)},
          steps_{job.loop, [this] { step(); }} {}

    ~ComposeStream() override {
        if (in_place_) return;
        const ActingAs acting{user_};
        ::unlinkat(destination_.place.directory.get(), destination_.temporary.c_str(), 0);
    }

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
        while (status.code == 0 && answer_.empty() && slice.left()) status = advance();
        if (status.code != 0) {
            steps_.pause();
            return end(status);
        }
        if (answer_.empty()) return;
        steps_.pause();
        writable();
    }

    Status advance() {
        if (copied_ < sources_.size()) return copy();
        if (!in_place_) return put_in_place();
        if (removed_ < sources_.size()) return remove_source(sources_[removed_++]);
        Answer<wire::FileEntry> entry = describe_path(path_, users_);
        if (!entry) return entry.error();
        answer_ = entry_event(*std::move(entry));
        return {};
    }

    Status copy() {
        const std::string& path = sources_[copied_];
        if (!source_) {
            Answer<Fd> file = open_path(path, O_RDONLY);
            if (!file) return std::move(file).error();
            struct stat found{};
            if (::fstat(file->get(), &found) != 0) return path_refusal(errno, path);
            if (!S_ISREG(found.st_mode)) {
                return refusal(Errc::invalid_argument, "path " + quoted(path) + " is not a regular file",
                               EINVAL);
            }
            source_ = *std::move(file);
        }
        const ssize_t piece = copy_some(loop_, source_.get(), destination_.file.get());
        if (piece < 0) return path_refusal(errno, path_);
        if (piece > 0) return {};
        source_.reset();
        ++copied_;
        return {};
    }

    Status put_in_place() {
        const struct stat& before = destination_.before;
        const int file = destination_.file.get();
        if (before.st_nlink != 0) {
            // Only root may give it back to another owner; for others it is their own now.
            static_cast<void>(::fchown(file, before.st_uid, before.st_gid));
            ::fchmod(file, before.st_mode & 07777);
        }
        const int directory = destination_.place.directory.get();
        const char* const name = destination_.place.name.c_str();
        if (::renameat(directory, destination_.temporary.c_str(), directory, name) != 0)
            return path_refusal(errno, path_);
        in_place_ = true;
        return {};
    }

    Status remove_source(const std::string& path) const {
        struct stat now{};
        struct stat composed{};
        const Answer<Place> place = place_of(path);
        if (!place) return {};  // listed twice, and gone already
        const int directory = place->directory.get();
        if (::fstatat(directory, place->name.c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0) return {};
        if (::fstat(destination_.file.get(), &composed) == 0 && same_file(now, composed)) return {};
        return ::unlinkat(directory, place->name.c_str(), 0) == 0 ? Status{} : path_refusal(errno, path);
    }

    Loop& loop_;
    Users& users_;
    User user_;
    std::vector<std::string> sources_;
    std::string path_;
    Destination destination_;
    Fd source_;  // the one that is being copied
    std::size_t copied_ = 0;
    std::size_t removed_ = 0;
    bool in_place_ = false;
    std::string answer_;
    Steps steps_;
};

}  // namespace

Answer<std::unique_ptr<Stream>> compose_file(FileJob job, const wire::Compose& request) {
    if (request.sources.empty()) return refused(Errc::invalid_argument, "nothing to compose");
    std::vector<std::string> sources;
    for (const std::string& each : request.sources) {
        Answer<std::string> source = job.actor.resolve(each);
        if (!source) return std::unexpected{std::move(source).error()};
        sources.push_back(*std::move(source));
    }
    Answer<std::string> path = job.actor.resolve(request.destination);
    if (!path) return std::unexpected{std::move(path).error()};
    const ActingAs acting{job.actor.user};
    // Before anything is made: a source that is missing is the commonest mistake.
    for (const std::string& source : sources) {
        if (const Answer<Fd> there = open_path(source, O_PATH); !there) return std::unexpected{there.error()};
    }
    Answer<Destination> destination = open_destination(*path);
    if (!destination) return std::unexpected{std::move(destination).error()};
    return std::make_unique<ComposeStream>(job, std::move(sources), *std::move(path),
                                           *std::move(destination));
}

}  // namespace oyat::agent
