#include "engine/gvisor/runsc.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "base/fd.hpp"
#include "base/throwing.hpp"

namespace oyat::gvisor {
namespace {

constexpr const char* kErrors = "/run/errors";
constexpr std::size_t kMostWords = 300;

std::string read_all(int fd) {
    std::string text;
    std::array<char, 4096> part;
    for (ssize_t n = 0; (n = ::read(fd, part.data(), part.size())) > 0 && text.size() < (64 << 10);) {
        text.append(part.data(), static_cast<std::size_t>(n));
    }
    return text;
}

// The program says in one line what went wrong, from the outside in; what it says before are warnings.
std::string last_line(std::string text) {
    while (text.ends_with('\n')) text.pop_back();
    text.erase(0, text.rfind('\n') + 1);
    if (text.size() > kMostWords) text.resize(kMostWords);
    return text;
}

[[noreturn]] void execute(const std::string& path, std::vector<std::string>& argv, int output, int errors) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    ::dup2(null, STDIN_FILENO);
    ::dup2(output >= 0 ? output : null, STDOUT_FILENO);
    ::dup2(errors >= 0 ? errors : null, STDERR_FILENO);
    ::syscall(SYS_close_range, 3U, ~0U, 0);
    for (int number = 1; number <= SIGRTMAX; ++number) ::signal(number, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    std::vector<char*> arguments;
    for (std::string& argument : argv) arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    std::string search = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
    std::array<char*, 2> environment{search.data(), nullptr};
    ::execve(path.c_str(), arguments.data(), environment.data());
    ::_exit(127);
}

// The exit code.
int run_to_end(const std::string& path, std::vector<std::string> argv, int output, int errors, Millis limit) {
    const pid_t child = sys(::fork(), "fork for runsc");
    if (child == 0) execute(path, argv, output, errors);
    const Fd pidfd{static_cast<int>(::syscall(SYS_pidfd_open, child, 0))};
    pollfd ended{pidfd.get(), POLLIN, 0};
    const bool in_time = ::poll(&ended, 1, static_cast<int>(limit.count())) == 1;
    if (!in_time) ::kill(child, SIGKILL);
    int status = 0;
    sys(::waitpid(child, &status, 0), "wait for runsc");
    if (!in_time) throw Error{Errc::deadline, Fault::engine, "it did not end in time"};
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

void Runsc::run(const std::vector<std::string>& command, Millis limit, int output) const {
    in("runsc " + command.at(0), [&] {
        std::vector<std::string> argv{
            "runsc", "--root=/run/state", "--log=/run/log", "--ignore-cgroups", "--host-settings=ignore",
            platform_ == Platform::systrap ? "--platform=systrap" : "--platform=ptrace",
            // Its own network stack on the veth. The process that serves it files stands where runsc does, in
            // the outer namespace, and holds that.
            "--network=sandbox", "--gofer-network-namespace=host",
            // The disk is ours to make and to limit; sockets in it lead nowhere but the agent's door.
            "--overlay2=none", "--host-uds=open",
            // sudo, as in a jail.
            "--allow-suid",
            // Memory that is gone on from belongs to another sandbox now, with other host ids and another
            // name; the descriptions of both are ours.
            "--restore-spec-validation=ignore"};
        argv.insert(argv.end(), command.begin(), command.end());
        const Fd errors{
            sys(::open(kErrors, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600), "open")};
        if (run_to_end(path_, std::move(argv), output, errors.get(), limit) == 0) return;
        const Fd again{sys(::open(kErrors, O_RDONLY | O_CLOEXEC), "open")};
        throw Error{Errc::unavailable, Fault::engine, last_line(read_all(again.get()))};
    });
}

std::string Runsc::version() const {
    return in("ask runsc for its version", [&] {
        std::array<int, 2> ends{};
        sys(::pipe2(ends.data(), O_CLOEXEC), "make a pipe");
        const Fd reader{ends[0]};
        Fd writer{ends[1]};
        const int code = run_to_end(path_, {"runsc", "--version"}, writer.get(), -1, Millis{5000});
        writer.reset();
        constexpr std::string_view before = "runsc version ";
        std::string said = read_all(reader.get());
        said.erase(said.find('\n') == std::string::npos ? said.size() : said.find('\n'));
        if (code != 0 || !said.starts_with(before)) {
            throw Error{Errc::unavailable, Fault::oyat_operator, path_ + " is not there, or is not runsc"};
        }
        return said.substr(before.size());
    });
}

}  // namespace oyat::gvisor
