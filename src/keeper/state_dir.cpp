#include "keeper/state_dir.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "base/id.hpp"
#include "base/throwing.hpp"
#include "keeper/lock.hpp"

namespace oyat::keeper {
namespace {

const std::string kFormat = "1";
constexpr std::size_t kIdLength = 6;

std::string read_line(const std::string& path) {
    const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    std::array<char, 64> text{};
    const ssize_t n = file ? ::read(file.get(), text.data(), text.size()) : -1;
    if (n <= 0) return {};
    const std::string line{text.data(), static_cast<std::size_t>(n)};
    return line.substr(0, line.find('\n'));
}

bool is_state_id(const std::string& text) {
    return text.size() == kIdLength &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789") == std::string::npos;
}

}  // namespace

StateDir::StateDir(const std::string& state) : path_{state + "/keeper"} {
    in("state directory", [&] {
        if (::mkdir(state.c_str(), 0755) != 0 && errno != EEXIST) throw errno_error(errno, "make " + state);
        if (::mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST) throw errno_error(errno, "make " + path_);
        sys(::chown(path_.c_str(), 0, 0), "own " + path_);
        sys(::chmod(path_.c_str(), 0700), "close " + path_);
        Fd lock{sys(::open(path("lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600), "open the lock")};
        lock_ = hold_alone(std::move(lock), "another keeper runs on this state");
        check_format();
        id_ = read_line(path("id"));
        if (is_state_id(id_)) return;
        id_ = new_sandbox_id().substr(1, kIdLength);
        keep_line("id", id_);
    });
}

// A later release may have written what this one would misread: its sandboxes must not be taken for
// leftovers.
void StateDir::check_format() const {
    const std::string format = read_line(path("format"));
    if (format.empty()) return keep_line("format", kFormat);
    if (format != kFormat) {
        throw Error{Errc::failed_precondition, Fault::oyat_operator,
                    "it has format " + format + ", and this release of oyat-keeper knows format " + kFormat};
    }
}

void StateDir::keep_line(const char* name, const std::string& line) const {
    const std::string draft = path(name) + ".new";
    const Fd file{
        sys(::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), "open " + draft)};
    sys(::write(file.get(), line.data(), line.size()), "write " + draft);
    sys(::fsync(file.get()), "sync " + draft);
    sys(::rename(draft.c_str(), path(name).c_str()), "keep " + path(name));
}

std::string boot_id() {
    return read_line("/proc/sys/kernel/random/boot_id");
}

std::string kernel_release() {
    utsname name{};
    ::uname(&name);
    return name.release;
}

}  // namespace oyat::keeper
