#include "agent/guest_devices.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "agent/guest.hpp"
#include "agent/loop.hpp"
#include "agent/small_file.hpp"

namespace oyat::agent {
namespace {

// Devices appear in their own time once their driver is there.
constexpr std::int64_t kPatienceMs = 10'000;

// The entry of `directory` whose file `fact` says `value`; empty when there is none yet.
std::string entry_that_says(const char* directory, const char* fact, std::string_view value) {
    DIR* const entries = ::opendir(directory);
    if (entries == nullptr) return {};
    std::string found;
    while (const dirent* entry = ::readdir(entries)) {
        if (entry->d_name[0] == '.') continue;
        const std::string file = std::string{entry->d_name} + "/" + fact;
        std::string said = read_small_file(::dirfd(entries), file.c_str(), 256);
        while (!said.empty() && (said.back() == '\n' || said.back() == '\0')) said.pop_back();
        if (said == value) found = entry->d_name;
    }
    ::closedir(entries);
    return found;
}

std::string wait_for_entry(const char* directory, const char* fact, std::string_view value) {
    const std::int64_t deadline = mono_ms() + kPatienceMs;
    while (true) {
        std::string found = entry_that_says(directory, fact, value);
        if (!found.empty()) return found;
        if (mono_ms() > deadline) {
            errno = ENODEV;
            guest_fails((std::string{directory} + ", " + std::string{value}).c_str());
        }
        const timespec moment{.tv_sec = 0, .tv_nsec = 1'000'000};
        ::nanosleep(&moment, nullptr);
    }
}

}  // namespace

void load_modules(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        const std::string path = "/m/" + name;
        const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
        if (!file || (::syscall(SYS_finit_module, file.get(), "", 0) != 0 && errno != EEXIST)) {
            guest_fails(("load " + name).c_str());
        }
        ::unlink(path.c_str());  // the initrd lies in memory
    }
}

std::string disk_named(std::string_view serial) {
    return "/dev/" + wait_for_entry("/sys/block", "serial", serial);
}

Fd open_port(std::string_view name) {
    const std::string path = "/dev/" + wait_for_entry("/sys/class/virtio-ports", "name", name);
    Fd port{::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC)};
    if (!port) guest_fails(("open " + path).c_str());
    return port;
}

}  // namespace oyat::agent
