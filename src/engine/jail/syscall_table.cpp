#include "engine/jail/syscall_table.hpp"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <array>

namespace oyat::jail {
namespace {

#define DENY(call)                        \
    DeniedCall {                          \
        SYS_##call, #call, Refusal::eperm \
    }
#define ABSENT(call)                       \
    DeniedCall {                           \
        SYS_##call, #call, Refusal::enosys \
    }

constexpr std::array kDenied{
    // The mount tree is made before the first program runs and never changes.
    DENY(mount),
    DENY(umount2),
    DENY(pivot_root),
    DENY(fsopen),
    DENY(fsconfig),
    DENY(fsmount),
    DENY(fspick),
    DENY(move_mount),
    DENY(open_tree),
    DENY(mount_setattr),
    // Other namespaces: entering or making them.
    DENY(setns),
    DENY(unshare),
    // Programs for the kernel, and its counters.
    DENY(bpf),
    DENY(perf_event_open),
    // The kernel itself.
    DENY(init_module),
    DENY(finit_module),
    DENY(delete_module),
    DENY(kexec_load),
    DENY(kexec_file_load),
    DENY(reboot),
    DENY(syslog),
    DENY(iopl),
    DENY(ioperm),
    DENY(vhangup),
    DENY(lookup_dcookie),
    // Machine-wide storage settings.
    DENY(swapon),
    DENY(swapoff),
    DENY(acct),
    DENY(quotactl),
    DENY(quotactl_fd),
    // File handles open files by number, past every directory permission (the classic way out of a
    // container).
    DENY(open_by_handle_at),
    DENY(name_to_handle_at),
    DENY(fanotify_init),
    // Key rings are not namespaced by sandbox.
    DENY(keyctl),
    DENY(add_key),
    DENY(request_key),
    // Stalls the kernel inside a copy from user memory; half of all use-after-free exploits need it.
    DENY(userfaultfd),
    // The clock is the machine's.
    DENY(settimeofday),
    DENY(clock_settime),
    DENY(adjtimex),
    DENY(clock_adjtime),
    // Placement of memory on NUMA nodes.
    DENY(move_pages),
    DENY(migrate_pages),
    DENY(mbind),
    DENY(set_mempolicy),
    DENY(set_mempolicy_home_node),
    // Reaching into other processes by other doors than ptrace(2), which has its own checks.
    DENY(kcmp),
    DENY(process_vm_writev),
    DENY(pidfd_getfd),
    DENY(vmsplice),
    // io_uring runs system calls that no filter sees.
    ABSENT(io_uring_setup),
    ABSENT(io_uring_enter),
    ABSENT(io_uring_register),
    // Old asynchronous I/O has one number of requests for the whole machine (fs.aio-max-nr). Databases do
    // without.
    ABSENT(io_setup),
    // Newer than these headers: mounts seen from a new side, and security labels.
    DeniedCall{457, "statmount", Refusal::enosys},
    DeniedCall{458, "listmount", Refusal::enosys},
    DeniedCall{459, "lsm_get_self_attr", Refusal::enosys},
    DeniedCall{460, "lsm_set_self_attr", Refusal::enosys},
    DeniedCall{461, "lsm_list_modules", Refusal::enosys},
};

#undef DENY
#undef ABSENT

constexpr std::array<std::uint32_t, 4> kFamilies{AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};

constexpr std::uint32_t kTiocLinux = 0x541C;  // not in the headers: selection and paste on a Linux console
constexpr std::array<std::uint32_t, 2> kIoctls{TIOCSTI, kTiocLinux};

// Programs for the kernel by another door. All that are compiled share one room of the machine, in nobody's
// account: a few thousand sockets fill it, and then no ordinary program of the host can load a filter (sshd).
constexpr std::array<std::uint32_t, 4> kSocketOptions{SO_ATTACH_FILTER, SO_ATTACH_BPF,
                                                      SO_ATTACH_REUSEPORT_CBPF, SO_ATTACH_REUSEPORT_EBPF};

}  // namespace

std::span<const DeniedCall> denied_calls() {
    return kDenied;
}
std::span<const std::uint32_t> allowed_socket_families() {
    return kFamilies;
}
std::span<const std::uint32_t> denied_ioctls() {
    return kIoctls;
}
std::span<const std::uint32_t> denied_socket_options() {
    return kSocketOptions;
}

}  // namespace oyat::jail
