#include "agent/renewal.hpp"

#include <fcntl.h>
#include <linux/random.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "agent/hosts_file.hpp"
#include "agent/small_file.hpp"
#include "base/fd.hpp"

namespace oyat::agent {
namespace {

constexpr std::size_t kMostHostName = 63;
constexpr std::size_t kMostHosts = 1024 * 1024;
constexpr std::uint64_t kNanos = 1'000'000'000;

bool is_name(std::string_view text) {
    return text.size() <= kMostHostName && std::ranges::all_of(text, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '_' || c == '.';
           });
}

bool is_machine_id(std::string_view text) {
    return text.size() == 32 &&
           std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// All programs of the sandbox have the same random numbers ahead of them as those of its siblings until this
// has run.
bool reseed(std::string_view entropy) {
    struct {
        int bits = 0;
        int bytes = 0;
        std::array<char, wire::kRenewalEntropy> pool{};
    } input;
    static_assert(sizeof input == sizeof(rand_pool_info) + wire::kRenewalEntropy);
    input.bits = static_cast<int>(entropy.size() * 8);
    input.bytes = static_cast<int>(entropy.size());
    std::ranges::copy(entropy, input.pool.begin());
    const Fd random{::open("/dev/random", O_RDWR | O_CLOEXEC)};
    const bool done = random && ::ioctl(random.get(), RNDADDENTROPY, &input) == 0 &&
                      ::ioctl(random.get(), RNDRESEEDCRNG) == 0;
    ::explicit_bzero(&input, sizeof input);
    return done;
}

bool set_clock(std::uint64_t wall_ns) {
    const timespec now{.tv_sec = static_cast<time_t>(wall_ns / kNanos),
                       .tv_nsec = static_cast<long>(wall_ns % kNanos)};
    return ::clock_settime(CLOCK_REALTIME, &now) == 0;
}

// A file of the template's, which may be anything that somebody inside has put in its place.
void write_text(const char* path, std::string_view text, mode_t mode) {
    const Fd file{::open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode)};
    struct stat found{};
    if (!file || ::fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode)) return;
    static_cast<void>(::ftruncate(file.get(), 0));
    static_cast<void>(::write(file.get(), text.data(), text.size()));
}

std::string read_hosts() {
    const Fd file{::open("/etc/hosts", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
    struct stat found{};
    if (!file || ::fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode)) return {};
    return read_small_file(AT_FDCWD, "/etc/hosts", kMostHosts);
}

bool set_host_name(const std::string& name) {
    std::array<char, 256> before{};
    ::gethostname(before.data(), before.size() - 1);
    if (::sethostname(name.data(), name.size()) != 0) return false;
    write_text("/etc/hostname", name + "\n", 0644);
    write_text("/etc/hosts", hosts_renamed(read_hosts(), before.data(), name), 0644);
    return true;
}

}  // namespace

Answer<wire::Renewed> renew_machine(const wire::Renew& renew) {
    if (!renew.entropy.empty() && renew.entropy.size() != wire::kRenewalEntropy) {
        return refused(Errc::invalid_argument, "entropy is not 64 bytes");
    }
    if (!is_name(renew.host_name)) return refused(Errc::invalid_argument, "not a host name");
    if (!renew.machine_id.empty() && !is_machine_id(renew.machine_id)) {
        return refused(Errc::invalid_argument, "machine id is not 32 lower-case hexadecimal digits");
    }
    wire::Renewed done;
    if (!renew.entropy.empty()) done.reseeded = reseed(renew.entropy);
    if (renew.wall_ns != 0) done.clock_set = set_clock(renew.wall_ns);
    if (!renew.host_name.empty()) done.host_named = set_host_name(renew.host_name);
    if (!renew.machine_id.empty()) write_text("/etc/machine-id", renew.machine_id + "\n", 0444);
    if (renew.generation != 0) {
        ::mkdir("/run", 0755);
        ::mkdir("/run/oyat", 0755);
        write_text("/run/oyat/generation", std::to_string(renew.generation) + "\n", 0644);
    }
    return done;
}

}  // namespace oyat::agent
