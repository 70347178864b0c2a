#include "agent/command_group.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <utility>

#include "agent/small_file.hpp"

namespace oyat::agent {
namespace {

// Retired groups looked at in one sweep: a thousand daemons must not make each ending process slow.
constexpr std::size_t kSweep = 64;

}  // namespace

void CommandGroup::kill() {
    killed_ = true;
    const Fd file{::openat(directory_.get(), "cgroup.kill", O_WRONLY | O_CLOEXEC)};
    if (file && ::write(file.get(), "1", 1) == 1) return;
    // Kernels before 5.14. A process that forks while we look is caught by the next look.
    for (int look = 0; look < 8; ++look) signal(SIGKILL);
}

void CommandGroup::signal(int number) const {
    const std::string text = read_small_file(directory_.get(), "cgroup.procs", 1024 * 1024);
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at < end) {
        pid_t pid = 0;
        at = std::from_chars(at, end, pid).ptr;
        // 0 stands for a process that our pid namespace does not see; to kill(2) it would be our own group.
        if (pid > 0) ::kill(pid, number);
        at = std::find(at, end, '\n');
        if (at < end) ++at;
    }
}

std::uint64_t CommandGroup::cpu_us() const {
    if (!directory_) return 0;
    const std::string text = read_small_file(directory_.get(), "cpu.stat", 4096);
    constexpr std::string_view kKey = "usage_usec ";
    const std::size_t at = text.find(kKey);
    std::uint64_t usage = 0;
    if (at != text.npos) std::from_chars(text.data() + at + kKey.size(), text.data() + text.size(), usage);
    return usage - std::min(usage, cpu_before_us_);
}

// Somebody inside who has the hierarchy in hand can make groups below this one, or freeze it: a next command
// would share its group with a stranger, or never run. And what cannot be read is not empty.
bool CommandGroup::is_pristine() const {
    struct stat found{};
    if (::fstat(directory_.get(), &found) != 0 || found.st_nlink != 2) return false;  // no groups below
    const std::string events = read_small_file(directory_.get(), "cgroup.events", 256);
    if (!events.starts_with("populated 0\n")) return false;
    return events.find("frozen 1") == events.npos;  // Linux before 5.2 has no freezer here
}

CommandGroup CommandGroups::make() {
    if (!parent_) return {};
    if (spare_) return std::exchange(spare_, {});
    const std::string name = "c" + std::to_string(next_++);
    if (::mkdirat(parent_.get(), name.c_str(), 0755) != 0) return {};
    Fd directory{::openat(parent_.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!directory) {
        ::unlinkat(parent_.get(), name.c_str(), AT_REMOVEDIR);
        return {};
    }
    return CommandGroup{name, std::move(directory)};
}

void CommandGroups::retire(CommandGroup group) {
    if (!group || reuse(group)) return;
    if (!remove(group)) retired_.push_back(std::move(group));
}

// True when the group is as good as new and now the spare one. Not after cgroup.kill: Linux 6.18 compares the
// number of kills of the parent's group with that of the group that a child is cloned into, and kills the
// child when they differ.
bool CommandGroups::reuse(CommandGroup& group) {
    if (spare_ || group.killed_ || !group.is_pristine()) return false;
    group.cpu_before_us_ += group.cpu_us();
    spare_ = std::move(group);
    return true;
}

void CommandGroups::sweep() {
    for (std::size_t looked = 0; looked < kSweep && looked < retired_.size(); ++looked) {
        swept_ = (swept_ + 1) % retired_.size();
        if (remove(retired_[swept_])) {
            std::swap(retired_[swept_], retired_.back());
            retired_.pop_back();
        }
        if (retired_.empty()) break;
    }
}

bool CommandGroups::remove(const CommandGroup& group) const {
    return ::unlinkat(parent_.get(), group.name_.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT;
}

}  // namespace oyat::agent
