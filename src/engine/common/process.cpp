#include "engine/common/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string>
#include <string_view>

namespace oyat::engine {
namespace {

constexpr int kStartTimeField = 22;  // proc_pid_stat(5); the name in field 2 may hold blanks and brackets

std::optional<std::uint64_t> parse_start_ticks(std::string_view stat) {
    const std::size_t after_name = stat.rfind(')');
    if (after_name == std::string_view::npos) return std::nullopt;
    std::string_view rest = stat.substr(after_name + 1);
    for (int field = 3; field <= kStartTimeField; ++field) {
        const std::size_t blank = rest.find(' ');
        if (blank == std::string_view::npos) return std::nullopt;
        rest.remove_prefix(blank + 1);
    }
    std::uint64_t ticks = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), ticks);
    if (error != std::errc{} || end == rest.data()) return std::nullopt;
    return ticks;
}

}  // namespace

std::optional<std::uint64_t> start_ticks_of(pid_t pid) {
    const Fd file{::open(("/proc/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC)};
    if (!file) return std::nullopt;
    std::array<char, 1024> text{};
    const ssize_t n = ::read(file.get(), text.data(), text.size());
    if (n <= 0) return std::nullopt;
    return parse_start_ticks({text.data(), static_cast<std::size_t>(n)});
}

std::optional<Process> find_process(pid_t pid, std::uint64_t start_ticks) {
    if (pid <= 1) return std::nullopt;
    Fd pidfd{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
    if (!pidfd) return std::nullopt;
    // The time is read after the open: if it fits, the descriptor is of that process too.
    if (start_ticks_of(pid) != start_ticks) return std::nullopt;
    return Process{pid, start_ticks, std::move(pidfd)};
}

std::uint32_t pid_inside(pid_t pid) {
    const Fd file{::open(("/proc/" + std::to_string(pid) + "/status").c_str(), O_RDONLY | O_CLOEXEC)};
    std::array<char, 4096> space{};
    const ssize_t n = file ? ::read(file.get(), space.data(), space.size()) : -1;
    if (n <= 0) return 0;
    const std::string_view text{space.data(), static_cast<std::size_t>(n)};
    const std::size_t at = text.find("\nNSpid:");
    if (at == std::string_view::npos) return 0;
    const std::string_view line = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
    const std::string_view number = line.substr(line.find_last_of("\t :") + 1);
    std::uint32_t inside = 0;
    std::from_chars(number.data(), number.data() + number.size(), inside);
    return inside;
}

void kill_process(const Process& process) noexcept {
    ::syscall(SYS_pidfd_send_signal, process.pidfd.get(), SIGKILL, nullptr, 0);
}

bool has_ended(const Process& process) noexcept {
    pollfd wait{process.pidfd.get(), POLLIN, 0};
    return ::poll(&wait, 1, 0) == 1;
}

void wait_for_end(const Process& process) noexcept {
    siginfo_t info{};
    ::waitid(P_PIDFD, static_cast<id_t>(process.pidfd.get()), &info, WEXITED);
}

void reap(const Process& process) noexcept {
    siginfo_t info{};
    ::waitid(P_PIDFD, static_cast<id_t>(process.pidfd.get()), &info, WEXITED | WNOHANG);
}

}  // namespace oyat::engine
