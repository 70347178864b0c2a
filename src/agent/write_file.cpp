#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/file_entry.hpp"
#include "agent/file_streams.hpp"
#include "agent/places.hpp"

namespace oyat::agent {
namespace {

struct Opened {
    Fd file;
    Place place;
    bool created = false;
};

// Opens what is there or makes it. Not in one O_CREAT: what an interrupted upload leaves behind may only be
// removed when it was not there before, and an existing file of somebody else's in /tmp may not be opened
// with O_CREAT.
Answer<Opened> open_target(const std::string& path, std::uint32_t mode) {
    Answer<Place> place = make_place(path);
    if (!place) return std::unexpected{std::move(place).error()};
    const int directory = place->directory.get();
    const char* const name = place->name.c_str();
    bool created = false;
    Answer<Fd> file = open_at(directory, name, O_WRONLY);
    if (!file && file.error().err == ENOENT) {
        file = open_at(directory, name, O_WRONLY | O_CREAT | O_EXCL, mode == 0 ? 0666 : mode & 07777);
        created = file.has_value();
        // A link that leads nowhere yet: its target is made.
        if (!file && file.error().err == EEXIST) file = open_at(directory, name, O_WRONLY | O_CREAT, 0666);
    }
    if (!file && file.error().err == EISDIR) return std::unexpected{path_refusal(EISDIR, path)};
    if (!file && file.error().err == ENXIO) {
        return refused(Errc::invalid_argument, "path " + quoted(path) + " is not a regular file", ENXIO);
    }
    if (!file) {
        Status why = file.error().code == static_cast<std::uint32_t>(Errc::denied) + 1
                         ? file.error()
                         : path_refusal(static_cast<int>(file.error().err), path);
        return std::unexpected{std::move(why)};
    }
    struct stat found{};
    if (::fstat(file->get(), &found) != 0) return std::unexpected{path_refusal(errno, path)};
    if (!S_ISREG(found.st_mode)) {
        return refused(Errc::invalid_argument, "path " + quoted(path) + " is not a regular file", EINVAL);
    }
    if (created && mode != 0) ::fchmod(file->get(), mode & 07777);
    return Opened{.file = *std::move(file), .place = *std::move(place), .created = created};
}

// A file on its way from the host. It is written in its final place, so that its links, mode and owner stay.
class WriteFileStream final : public Stream {
public:
    WriteFileStream(FileJob& job, Opened opened, std::string path, const wire::WriteFile& request)
        : Stream{job.connection, job.id},
          users_{job.users},
          user_{std::move(job.actor.user)},
          opened_{std::move(opened)},
          path_{std::move(path)},
          metadata_{request.metadata} {}

    ~WriteFileStream() override {
        if (!complete_) remove_unfinished();
    }

    // As the user here, too: what somebody else wrote into loses its set-user-id bit.
    void data(wire::ChannelId, std::string_view bytes) override {
        const ActingAs acting{user_};
        const std::size_t size = bytes.size();
        while (!bytes.empty()) {
            const ssize_t wrote = ::write(opened_.file.get(), bytes.data(), bytes.size());
            if (wrote < 0 && errno == EINTR) continue;
            if (wrote <= 0) return end(path_refusal(errno, path_));
            bytes.remove_prefix(static_cast<std::size_t>(wrote));
        }
        consumed(size);
    }

    void eof(wire::ChannelId) override {
        if (complete_) return;
        const ActingAs acting{user_};
        if (Status status = replace_metadata(opened_.file.get(), metadata_); status.code != 0)
            return end(status);
        Answer<wire::FileEntry> entry = describe_path(path_, users_);
        if (!entry) return end(entry.error());
        complete_ = true;
        opened_.file.reset();
        answer_ = entry_event(*std::move(entry));
        writable();
    }

    void writable() override {
        if (!complete_ || window() < answer_.size()) return;
        send_event(answer_);
        end({});
    }

private:
    void remove_unfinished() const {
        if (!opened_.created) return;
        const ActingAs acting{user_};
        struct stat written{};
        struct stat there{};
        const int directory = opened_.place.directory.get();
        const char* const name = opened_.place.name.c_str();
        if (::fstat(opened_.file.get(), &written) != 0) return;
        if (::fstatat(directory, name, &there, AT_SYMLINK_NOFOLLOW) != 0) return;
        // Somebody may have put another file in its place meanwhile.
        if (written.st_ino == there.st_ino && written.st_dev == there.st_dev) ::unlinkat(directory, name, 0);
    }

    Users& users_;
    User user_;
    Opened opened_;
    std::string path_;
    std::map<std::string, std::string> metadata_;
    std::string answer_;
    bool complete_ = false;
};

}  // namespace

Answer<std::unique_ptr<Stream>> write_file(FileJob job, const wire::WriteFile& request) {
    Answer<std::string> path = job.actor.resolve(request.path);
    if (!path) return std::unexpected{std::move(path).error()};
    if (!job.actor.named) found_top_directory(top_parent_of(*path), job.actor.user);
    const ActingAs acting{job.actor.user};
    Answer<Opened> opened = open_target(*path, request.mode);
    if (!opened) return std::unexpected{std::move(opened).error()};
    const int file = opened->file.get();
    if (request.append) {
        if (::lseek(file, 0, SEEK_END) < 0) return std::unexpected{path_refusal(errno, *path)};
    } else if (!opened->created && ::ftruncate(file, 0) != 0) {
        return std::unexpected{path_refusal(errno, *path)};
    }
    return std::make_unique<WriteFileStream>(job, *std::move(opened), *std::move(path), request);
}

}  // namespace oyat::agent
