#include "agent/guest.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "agent/guest_devices.hpp"
#include "agent/guest_network.hpp"
#include "agent/guest_root.hpp"
#include "agent/guest_words.hpp"
#include "agent/small_file.hpp"

namespace oyat::agent {
namespace {

constexpr const char* kModuleOrder = "/m/order";
constexpr rlim_t kMostFiles = 1024 * 1024;  // the kernel's own fs.nr_open

void say(const std::string& what) {
    const std::string line = "oyat-agent: " + what + "\n";
    // Not the console, which may not be there; the kernel shows this on it when there is one.
    static_cast<void>(write_small_file(AT_FDCWD, "/dev/kmsg", line));
}

// -no-reboot makes QEMU end; power-off would need ACPI.
[[noreturn]] void end_machine() {
    ::sync();
    ::reboot(RB_AUTOBOOT);
    ::_exit(1);
}

}  // namespace

bool is_guest_init() {
    return ::getpid() == 1 && ::access(kModuleOrder, R_OK) == 0;
}

void guest_fails(const char* step) {
    const char* const why = ::strerrordesc_np(errno);
    say(std::string{step} + ": " + (why == nullptr ? "unknown error" : why));
    end_machine();
}

void open_guest_devices() {
    for (const char* directory : {"/proc", "/sys", "/dev"}) ::mkdir(directory, 0755);
    if (::mount("devtmpfs", "/dev", "devtmpfs", MS_NOSUID | MS_NOEXEC, nullptr) != 0)
        guest_fails("mount /dev");
    if (::mount("proc", "/proc", "proc", kPlainMount, nullptr) != 0) guest_fails("mount /proc");
    if (::mount("sysfs", "/sys", "sysfs", kPlainMount, nullptr) != 0) guest_fails("mount /sys");
    const int null = ::open("/dev/null", O_RDWR);
    if (null < 0) guest_fails("open /dev/null");
    for (int fd = 0; fd < 3; ++fd) {
        if (fd != null) ::dup2(null, fd);
    }
    if (null > 2) ::close(null);
}

Guest make_guest() {
    const Answer<GuestWords> words = parse_guest_words(read_small_file(AT_FDCWD, "/proc/cmdline", 64 * 1024));
    if (!words) {
        say(words.error().message);
        end_machine();
    }
    load_modules(parse_module_order(read_small_file(AT_FDCWD, kModuleOrder, 64 * 1024)));
    Guest guest{.port = open_port("oyat.agent"), .cgroup = {}, .generation = words->generation};
    guest.cgroup = enter_root({.base = disk_named("oyat-base"), .upper = disk_named("oyat-upper")});
    set_up_network();
    name_machine(words->id);
    const rlimit files{kMostFiles, kMostFiles};
    ::setrlimit(RLIMIT_NOFILE, &files);
    // The sandbox is lost without its agent; what it starts gets the usual score.
    static_cast<void>(write_small_file(AT_FDCWD, "/proc/self/oom_score_adj", "-1000"));
    return guest;
}

}  // namespace oyat::agent
