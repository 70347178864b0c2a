// Writing to the kernel's switches: each file below /proc/sys and /sys, and the famous ones beside them.
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

#include "guest.hpp"

namespace {

int writable = 0;

int look(const char* path, const struct stat*, int kind, struct FTW*) {
    if (kind != FTW_F) return 0;
    const int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return 0;
    close(fd);
    ++writable;
    printf("writable: %s\n", path);
    return 0;
}

}  // namespace

int main() {
    Guest guest{"J-17"};
    // An open may succeed where the write is what is refused: so /proc/sys is tried by writing its own
    // content back.
    for (const char* path : {"/proc/sys/kernel/core_pattern",
                             "/proc/sys/kernel/printk",
                             "/proc/sys/kernel/hostname",
                             "/proc/sys/kernel/modprobe",
                             "/proc/sys/kernel/ns_last_pid",
                             "/proc/sys/fs/binfmt_misc/register",
                             "/proc/sys/vm/overcommit_memory",
                             "/proc/sys/vm/drop_caches",
                             "/proc/sys/net/ipv4/ip_forward",
                             "/proc/sys/net/ipv4/ip_unprivileged_port_start",
                             "/proc/sys/net/ipv6/conf/all/disable_ipv6",
                             "/proc/sys/kernel/yama/ptrace_scope",
                             "/proc/sys/kernel/randomize_va_space",
                             "/proc/sys/user/max_net_namespaces",
                             "/proc/sysrq-trigger",
                             "/proc/irq/default_smp_affinity",
                             "/proc/timer_list",
                             "/proc/latency_stats",
                             "/proc/mtrr",
                             "/proc/bus/pci/00/00.0"}) {
        char value[128] = "1\n";
        const int in = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        ssize_t n = in >= 0 ? read(in, value, sizeof value) : 2;
        if (in >= 0) close(in);
        if (n <= 0) n = 2;
        const int out = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
        guest.must_fail(path, out < 0 ? out : write(out, value, static_cast<size_t>(n)),
                        {EPERM, EACCES, EROFS, ENOENT, EINVAL, EIO});
        if (out >= 0) close(out);
    }
    for (const char* path :
         {"/proc/kcore", "/proc/kpageflags", "/proc/kmsg", "/proc/vmallocinfo", "/dev/mem"}) {
        const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        char byte = 0;
        guest.must_fail(path, fd < 0 ? fd : read(fd, &byte, 1), {EPERM, EACCES, ENOENT});
    }
    nftw("/sys", look, 32, FTW_PHYS);
    guest.must_hold("nothing below /sys is writable", writable == 0);
    return guest.finish();
}
