#include "engine/jail/test_inmate.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/fd.hpp"

namespace oyat::jail::test {
namespace {

std::string read_file(const std::string& path) {
    std::ifstream file{path};
    return {std::istreambuf_iterator<char>{file}, {}};
}

std::string outcome(long result) {
    return result >= 0 ? "done" : std::strerror(errno);
}

// Of a call that opens something, which is closed again: the jail is asked what is open in it.
std::string outcome_of_open(int fd) {
    const Fd opened{fd};
    return outcome(fd);
}

std::string open_descriptors() {
    std::set<int> fds;
    for (int fd = 0; fd < 1024; ++fd) {
        if (::fcntl(fd, F_GETFD) >= 0) fds.insert(fd);
    }
    std::string text;
    for (const int fd : fds) text += std::to_string(fd) + " ";
    return text;
}

// Files of /proc and /sys outside of process directories that let us write: there should be none.
std::string writable_files() {
    std::string found;
    for (const char* top : {"/proc", "/sys"}) {
        auto walk = std::filesystem::recursive_directory_iterator{
            top, std::filesystem::directory_options::skip_permission_denied};
        for (std::error_code error; walk != std::filesystem::recursive_directory_iterator{};
             walk.increment(error)) {
            const std::string path = walk->path();
            const bool of_process = path.starts_with("/proc/") && (std::isdigit(path[6]) != 0);
            if (of_process || walk->is_symlink(error)) {
                walk.disable_recursion_pending();
                continue;
            }
            if (!walk->is_regular_file(error)) continue;
            const Fd file{::open(path.c_str(), O_WRONLY | O_NONBLOCK)};
            if (file) found += path + " ";
        }
    }
    return found;
}

long raw_clone3(std::uint64_t flags) {
    std::array<std::uint64_t, 8> args{flags, 0, 0, 0, SIGCHLD};
    const long pid = ::syscall(SYS_clone3, args.data(), sizeof args);
    if (pid == 0) ::_exit(0);
    return pid;
}

using Answers = std::map<std::string, std::function<std::string()>, std::less<>>;

const Answers& answers() {
    static const Answers all{
        {"ids",
         [] {
             return std::to_string(::getuid()) + " " + std::to_string(::getgid()) + " " +
                    std::to_string(::getpid());
         }},
        {"host-name", [] { return read_file("/proc/sys/kernel/hostname"); }},
        {"hosts", [] { return read_file("/etc/hosts"); }},
        {"descriptors", open_descriptors},
        {"capabilities",
         [] {
             const std::string status = read_file("/proc/self/status");
             const std::size_t at = status.find("CapBnd:\t");
             return status.substr(at + 8, 16);
         }},
        {"mounts", [] { return read_file("/proc/self/mountinfo"); }},
        {"cgroup", [] { return read_file("/proc/self/cgroup"); }},
        {"boot-id", [] { return read_file("/proc/sys/kernel/random/boot_id"); }},
        {"uptime", [] { return read_file("/proc/uptime"); }},
        {"meminfo", [] { return read_file("/proc/meminfo"); }},
        {"cpus-online", [] { return std::to_string(::sysconf(_SC_NPROCESSORS_ONLN)); }},
        {"cpus-allowed",
         [] {
             cpu_set_t set;
             ::sched_getaffinity(0, sizeof set, &set);
             return std::to_string(CPU_COUNT(&set));
         }},
        {"exe", [] { return std::filesystem::read_symlink("/proc/self/exe").string(); }},
        {"overwrite-exe", [] { return outcome_of_open(::open("/proc/self/exe", O_WRONLY)); }},
        {"write-root", [] { return outcome_of_open(::open("/written", O_CREAT | O_WRONLY, 0600)); }},
        {"write-dev", [] { return outcome_of_open(::open("/dev/written", O_CREAT | O_WRONLY, 0600)); }},
        {"write-null",
         [] {
             const Fd null{::open("/dev/null", O_WRONLY)};
             return outcome(::write(null.get(), "x", 1));
         }},
        {"write-shm", [] { return outcome_of_open(::open("/dev/shm/x", O_CREAT | O_WRONLY, 0600)); }},
        {"pty", [] { return outcome_of_open(::posix_openpt(O_RDWR | O_NOCTTY)); }},
        {"mount", [] { return outcome(::mount("none", "/tmp", "tmpfs", 0, nullptr)); }},
        {"umount", [] { return outcome(::umount2("/proc/meminfo", MNT_DETACH)); }},
        {"unshare", [] { return outcome(::unshare(CLONE_NEWNS)); }},
        {"mknod", [] { return outcome(::mknod("/node", S_IFCHR | 0600, makedev(1, 3))); }},
        {"clone3-user", [] { return outcome(raw_clone3(CLONE_NEWUSER)); }},
        {"clone3-net", [] { return outcome(raw_clone3(CLONE_NEWNET)); }},
        {"clone3-plain", [] { return outcome(raw_clone3(0)); }},
        {"raise-namespaces",
         [] { return outcome_of_open(::open("/proc/sys/user/max_user_namespaces", O_WRONLY)); }},
        {"vsock", [] { return outcome_of_open(::socket(AF_VSOCK, SOCK_STREAM, 0)); }},
        {"inet", [] { return outcome_of_open(::socket(AF_INET, SOCK_STREAM, 0)); }},
        {"set-host-name", [] { return outcome(::sethostname("x", 1)); }},
        {"double-chroot",
         [] {
             ::mkdir("/cage", 0700);
             const Fd kept{::open("/", O_RDONLY | O_DIRECTORY)};
             if (::chroot("/cage") != 0 || ::fchdir(kept.get()) != 0) return outcome(-1);
             for (int step = 0; step < 64; ++step) [[maybe_unused]]
                 const int up = ::chdir("..");
             [[maybe_unused]] const int in = ::chroot(".");
             struct stat root{}, up{};
             ::stat("/", &root);
             ::stat("/..", &up);
             return std::string{
                 root.st_ino == up.st_ino && ::access("/proc/self/status", F_OK) == 0 ? "inside" : "out"};
         }},
        {"writable", writable_files},
        {"foreign-groups",
         [] {
             std::string found;
             for (const auto& entry : std::filesystem::recursive_directory_iterator{"/sys/fs/cgroup"}) {
                 const std::string name = entry.path().filename();
                 // The file that only the root of a hierarchy has; and groups below, of which we have none.
                 if (name == "release_agent" ||
                     (entry.is_directory() && entry.path().parent_path() != "/sys/fs/cgroup")) {
                     found += entry.path().string() + " ";
                 }
             }
             return found;
         }},
        {"kernel-command", [] { return read_file("/proc/cmdline"); }},
        {"kcore", [] { return outcome_of_open(::open("/proc/kcore", O_RDONLY)); }},
        {"sysrq", [] { return outcome_of_open(::open("/proc/sysrq-trigger", O_WRONLY)); }},
    };
    return all;
}

}  // namespace

void answer_questions() {
    for (;;) {
        const Fd host{::accept4(3, nullptr, nullptr, SOCK_CLOEXEC)};
        std::array<char, 64> word{};
        const ssize_t n = ::read(host.get(), word.data(), word.size());
        if (n <= 0) continue;
        const auto found = answers().find(std::string_view{word.data(), static_cast<std::size_t>(n)});
        const std::string answer = found == answers().end() ? "what?" : found->second();
        [[maybe_unused]] const ssize_t written = ::write(host.get(), answer.data(), answer.size());
    }
}

}  // namespace oyat::jail::test

int main(int argc, char** argv) {
    if (argc > 0 && std::string_view{argv[0]} == "oyat-agent") oyat::jail::test::answer_questions();
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
