#include "agent/obstacles.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <climits>
#include <functional>
#include <string>
#include <string_view>

#include "agent/proc_entries.hpp"
#include "agent/small_file.hpp"
#include "agent/tcp_table.hpp"
#include "base/fd.hpp"

namespace oyat::agent {
namespace {

constexpr std::size_t kMostTable = 16 * 1024 * 1024;

std::string process_text(pid_t pid, const ProcEntries& processes) {
    const auto found = processes.find(pid);
    return "process " + std::to_string(pid) +
           (found == processes.end() ? std::string{} : " (" + found->second.name + ")");
}

std::string link_target(int directory, const char* name) {
    char target[PATH_MAX];
    const ssize_t length = ::readlinkat(directory, name, target, sizeof target);
    return length > 0 ? std::string(target, static_cast<std::size_t>(length)) : std::string{};
}

// Calls `look` with each descriptor of a process, by its directory and name, until one is what was looked
// for. False when the process lets nobody look, which a root without rights over all its processes may meet.
bool each_descriptor(pid_t pid, const std::function<bool(int directory, const char* name)>& look) {
    DIR* directory = ::opendir(("/proc/" + std::to_string(pid) + "/fd").c_str());
    if (directory == nullptr) return errno != EACCES && errno != EPERM;
    while (const dirent* entry = ::readdir(directory)) {
        if (entry->d_name[0] != '.' && look(::dirfd(directory), entry->d_name)) break;
    }
    ::closedir(directory);
    return true;
}

std::string holder_of(std::uint64_t inode) {
    const ProcEntries processes = all_processes();
    const std::string wanted = "socket:[" + std::to_string(inode) + "]";
    std::string holder;
    for (const pid_t pid : own_programs(processes, ::getpid())) {
        each_descriptor(pid, [&](int directory, const char* name) {
            if (link_target(directory, name) != wanted) return false;
            holder = process_text(pid, processes);
            return true;
        });
        if (!holder.empty()) return holder;
    }
    return "the sandbox";
}

// The text of a descriptor's link says so, but a file may be called like that; and the count of links is 1 in
// gVisor whatever became of the file's name.
bool is_nameless(const struct stat& file, const std::string& text) {
    if (file.st_nlink == 0) return true;
    struct stat named{};
    return text.ends_with(" (deleted)") &&
           (::lstat(text.c_str(), &named) != 0 || named.st_ino != file.st_ino || named.st_dev != file.st_dev);
}

bool is_nameless_file(int directory, const char* name) {
    struct stat file{};
    if (::fstatat(directory, name, &file, 0) != 0 || !S_ISREG(file.st_mode)) return false;
    if (!is_nameless(file, link_target(directory, name))) return false;
    // What lies in the sandbox's own memory goes into the checkpoint with it. Not opened for that: it may be
    // a file that nobody may open again.
    const Fd link{::openat(directory, name, O_PATH | O_CLOEXEC)};
    struct statfs system{};
    return !link || ::fstatfs(link.get(), &system) != 0 || system.f_type != TMPFS_MAGIC;
}

}  // namespace

Status no_outside_connections() {
    for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
        const auto connections = outside_connections(read_small_file(AT_FDCWD, table, kMostTable));
        if (connections.empty()) continue;
        const TcpConnection& first = connections.front();
        return refusal(Errc::failed_precondition,
                       holder_of(first.inode) + " holds a connection to " + first.remote.text());
    }
    return {};
}

Status no_deleted_files() {
    const ProcEntries processes = all_processes();
    for (const pid_t pid : own_programs(processes, ::getpid())) {
        std::string file;
        const bool seen = each_descriptor(pid, [&](int directory, const char* name) {
            if (is_nameless_file(directory, name)) file = link_target(directory, name);
            return !file.empty();
        });
        if (!seen) {
            return refusal(Errc::failed_precondition,
                           process_text(pid, processes) + " lets nobody see which files it holds open");
        }
        if (!file.empty()) {
            return refusal(Errc::failed_precondition,
                           process_text(pid, processes) + " holds a deleted file open: " + quoted(file));
        }
    }
    return {};
}

}  // namespace oyat::agent
