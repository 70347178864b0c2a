#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "agent/file_entry.hpp"
#include "agent/file_streams.hpp"
#include "agent/places.hpp"

namespace oyat::agent {
namespace {

constexpr int kChunksPerStep = 4;

// A file on its way to the host.
class ReadFileStream final : public Stream {
public:
    ReadFileStream(FileJob& job, Fd file, std::string entry, const wire::ReadFile& request)
        : Stream{job.connection, job.id},
          loop_{job.loop},
          user_{std::move(job.actor.user)},
          file_{std::move(file)},
          entry_{std::move(entry)},
          offset_{request.offset},
          left_{request.length == 0 ? UINT64_MAX : request.length},
          stat_only_{request.stat_only},
          steps_{job.loop, [this] { step(); }} {}

    void writable() override {
        if (!entry_.empty()) {
            if (window() < entry_.size()) return;
            send_event(entry_);
            entry_.clear();
        }
        if (stat_only_) return end({});
        steps_.resume();
    }

private:
    // As the user here, too: some files of the kernel judge whoever reads them, not who opened them.
    void step() {
        const ActingAs acting{user_};
        for (int i = 0; i < kChunksPerStep; ++i) {
            const std::size_t most = std::min({Loop::kScratch, window(), static_cast<std::size_t>(left_)});
            if (most == 0 && left_ != 0) return steps_.pause();  // until writable()
            const ssize_t got = most == 0 ? 0 : read_some(most);
            if (got < 0) return finish(errno_refusal(errno, "read"));
            if (got == 0) {
                send_eof(wire::ChannelId::file);
                return finish({});
            }
            send_data(wire::ChannelId::file, {loop_.scratch(), static_cast<std::size_t>(got)});
            offset_ += static_cast<std::uint64_t>(got);
            left_ -= static_cast<std::uint64_t>(got);
        }
    }

    // Files in /proc say that their size is 0: only reading tells where they end.
    ssize_t read_some(std::size_t most) {
        const ssize_t got = ::pread(file_.get(), loop_.scratch(), most, static_cast<off_t>(offset_));
        return got < 0 && errno == EAGAIN ? 0 : got;
    }

    void finish(const Status& status) {
        steps_.pause();
        end(status);
    }

    Loop& loop_;
    User user_;
    Fd file_;
    std::string entry_;  // the event that comes first; empty once it has been sent
    std::uint64_t offset_;
    std::uint64_t left_;
    bool stat_only_;
    Steps steps_;
};

Status refuse_type(const std::string& path, mode_t mode) {
    const char* what = S_ISDIR(mode)    ? "a directory"
                       : S_ISFIFO(mode) ? "a named pipe"
                       : S_ISSOCK(mode) ? "a socket"
                                        : "a device";
    return refusal(Errc::invalid_argument, "path " + quoted(path) + " is " + what,
                   S_ISDIR(mode) ? EISDIR : EINVAL);
}

}  // namespace

Answer<std::unique_ptr<Stream>> read_file(FileJob job, const wire::ReadFile& request) {
    const Answer<std::string> path = job.actor.resolve(request.path);
    if (!path) return std::unexpected{path.error()};
    if (request.offset > INT64_MAX) return refused(Errc::invalid_argument, "offset beyond any file", EINVAL);
    const ActingAs acting{job.actor.user};
    Answer<Fd> file = open_path(*path, O_RDONLY);
    // ENXIO: a socket, which cannot even be opened.
    if (!file && file.error().err == ENXIO) return std::unexpected{refuse_type(*path, S_IFSOCK)};
    if (!file) return std::unexpected{std::move(file).error()};
    struct stat found{};
    if (::fstat(file->get(), &found) != 0) return std::unexpected{path_refusal(errno, *path)};
    if (!S_ISREG(found.st_mode)) return std::unexpected{refuse_type(*path, found.st_mode)};
    Answer<wire::FileEntry> entry = describe_path(*path, job.users);
    if (!entry) return std::unexpected{std::move(entry).error()};
    return std::make_unique<ReadFileStream>(job, *std::move(file), entry_event(*std::move(entry)), request);
}

}  // namespace oyat::agent
