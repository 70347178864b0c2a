#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/magic.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>

#include "agent/agent.hpp"
#include "agent/guest.hpp"

// glibc's, called by it when a thread ends: hands the thread's cache of freed chunks back and never fills one
// again.
extern "C" void __malloc_arena_thread_freeres() __attribute__((weak));

// oyat-agent, pid 1 of a sandbox. The keeper starts it with the listening socket of its host as descriptor 3
// and, where the engine has one, the sandbox's cgroup v2 directory as descriptor 4:
//
//   oyat-agent --generation=N [--listen PATH | --connect PATH]
//
// or a virtual machine's kernel does, as /init, with words on its command line (guest.hpp).
// --connect: there is no descriptor 3, the host listens there. --listen makes the socket itself, for trying
// it outside of a sandbox.
namespace oyat::agent {
namespace {

constexpr int kListener = 3;
constexpr int kCgroup = 4;
// Numbers that no pipe of a command will ever need.
constexpr int kHighFd = 200;
constexpr std::size_t kLongestPath = sizeof(sockaddr_un::sun_path);

struct Options {
    std::uint64_t generation = 0;
    std::optional<std::string_view> listen;
    std::optional<std::string_view> connect;
};

std::optional<Options> parse(int argc, char** argv) {
    constexpr std::string_view kGeneration = "--generation=";
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (argument.starts_with(kGeneration)) {
            const std::string_view number = argument.substr(kGeneration.size());
            const char* const end = number.data() + number.size();
            if (std::from_chars(number.data(), end, options.generation).ptr != end) return std::nullopt;
        } else if (argument == "--listen" && i + 1 < argc) {
            options.listen = argv[++i];
        } else if (argument == "--connect" && i + 1 < argc && std::strlen(argv[i + 1]) < kLongestPath) {
            options.connect = argv[++i];
        } else {
            return std::nullopt;
        }
    }
    if (options.listen && options.connect) return std::nullopt;
    return options;
}

// Nobody inside may trace or read pid 1, and nothing that the keeper had open may leak into it.
void harden() {
    ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    ::syscall(SYS_close_range, kCgroup + 1, ~0u, 0);
    // Pipes must not get the numbers of stdio: they would be overwritten on their way into a child.
    int null = 0;
    do null = ::open("/dev/null", O_RDWR);
    while (null >= 0 && null <= STDERR_FILENO);
    if (null >= 0) ::close(null);
    ::umask(022);
}

Fd take(int fd) {
    Fd high{::fcntl(fd, F_DUPFD_CLOEXEC, kHighFd)};
    if (high) ::close(fd);
    return high;
}

// Signals reach the agent only where it asks for them; programs start with none blocked and none ignored.
void set_signals(bool interruptible) {
    for (int number = 1; number <= SIGRTMAX; ++number) ::signal(number, SIG_DFL);
    sigset_t blocked;
    ::sigfillset(&blocked);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP})
        ::sigdelset(&blocked, fault);
    if (interruptible) {
        ::sigdelset(&blocked, SIGTERM);
        ::sigdelset(&blocked, SIGINT);
    }
    ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
}

void raise_file_limit() {
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
}

// What is freed goes back to the kernel: big buffers at once, the rest when the agent falls idle. The cache
// that glibc has for each thread does not take part in that. After a few hundred commands its chunks of all
// sizes lay scattered over the heap, each holding a page: a megabyte that was never given back.
void set_allocator() {
    ::mallopt(M_MMAP_THRESHOLD, 128 * 1024);
    ::mallopt(M_TRIM_THRESHOLD, 256 * 1024);
    if (__malloc_arena_thread_freeres != nullptr) __malloc_arena_thread_freeres();
}

Fd take_listener() {
    int listening = 0;
    socklen_t size = sizeof listening;
    if (::getsockopt(kListener, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) != 0 || listening == 0)
        return {};
    return take(kListener);
}

Fd take_cgroup() {
    struct statfs type{};
    if (::fstatfs(kCgroup, &type) != 0 || type.f_type != CGROUP2_SUPER_MAGIC) return {};
    return take(kCgroup);
}

Fd make_listener(std::string_view path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return {};
    std::memcpy(address.sun_path, path.data(), path.size());
    Fd listener{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    ::unlink(address.sun_path);
    if (::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return {};
    if (::listen(listener.get(), 16) != 0) return {};
    return listener;
}

int say(std::string_view what) {
    static_cast<void>(::write(STDERR_FILENO, what.data(), what.size()));
    return 2;
}

[[noreturn]] void run_guest() {
    open_guest_devices();
    harden();
    set_signals(false);
    set_allocator();
    Guest guest = make_guest();
    raise_file_limit();
    Agent::WayIn way;
    way.port = std::move(guest.port);
    Agent agent{std::move(way), std::move(guest.cgroup), guest.generation};
    agent.run();
}

int run(int argc, char** argv) {
    if (is_guest_init()) run_guest();
    harden();
    const std::optional<Options> options = parse(argc, argv);
    if (!options) return say("usage: oyat-agent --generation=N [--listen PATH | --connect PATH]\n");
    set_signals(options->listen.has_value());
    raise_file_limit();
    set_allocator();
    // As pid 1 it is one anyway; elsewhere the orphans of its commands come to it as well.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    Fd cgroup = take_cgroup();
    Agent::WayIn way;
    if (options->connect) {
        way.connect = *options->connect;
    } else {
        way.listener = options->listen ? make_listener(*options->listen) : take_listener();
        if (!way.listener) return say("oyat-agent: no socket to listen on\n");
        ::fcntl(way.listener.get(), F_SETFL, O_NONBLOCK);
    }
    Agent agent{std::move(way), std::move(cgroup), options->generation};
    agent.run();
}

}  // namespace
}  // namespace oyat::agent

int main(int argc, char** argv) {
    return oyat::agent::run(argc, argv);
}
