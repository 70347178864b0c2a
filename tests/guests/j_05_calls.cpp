// System calls that no program in a sandbox needs.
#include <linux/keyctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

#include "guest.hpp"

#define TRY(name, ...) guest.must_fail(#name, syscall(SYS_##name, ##__VA_ARGS__), {EPERM})

int main() {
    Guest guest{"J-05"};
    TRY(bpf, 0, nullptr, 0);
    TRY(perf_event_open, nullptr, 0, -1, -1, 0);
    TRY(userfaultfd, 0);
    TRY(keyctl, KEYCTL_GET_KEYRING_ID, -3, 1);
    TRY(add_key, "user", "x", "y", 1, -3);
    TRY(request_key, "user", "x", nullptr, 0);
    TRY(fanotify_init, 0, 0);
    TRY(kcmp, getpid(), getpid(), 0, 0, 0);
    TRY(process_vm_writev, getpid(), nullptr, 0, nullptr, 0, 0);
    TRY(pidfd_getfd, -1, 0, 0);
    TRY(vmsplice, 1, nullptr, 0, 0);
    TRY(quotactl, 0, nullptr, 0, nullptr);
    TRY(quotactl_fd, -1, 0, 0, nullptr);
    TRY(open_by_handle_at, -1, nullptr, 0);
    TRY(name_to_handle_at, -100, "/", nullptr, nullptr, 0);
    TRY(init_module, nullptr, 0, "");
    TRY(finit_module, -1, "", 0);
    TRY(delete_module, "x", 0);
    TRY(kexec_load, 0, 0, nullptr, 0);
    TRY(kexec_file_load, -1, -1, 0, "", 0);
    TRY(swapon, "/x", 0);
    TRY(swapoff, "/x");
    TRY(acct, nullptr);
    TRY(reboot, 0, 0, 0, nullptr);
    timespec time{};
    TRY(clock_settime, CLOCK_REALTIME, &time);
    timeval old{};
    TRY(settimeofday, &old, nullptr);
    TRY(adjtimex, nullptr);
    TRY(clock_adjtime, 0, nullptr);
    TRY(syslog, 3, nullptr, 0);
    TRY(iopl, 3);
    TRY(ioperm, 0, 1, 1);
    TRY(vhangup);
    TRY(move_pages, 0, 0, nullptr, nullptr, nullptr, 0);
    TRY(migrate_pages, 0, 0, nullptr, nullptr);
    TRY(mbind, nullptr, 0, 0, nullptr, 0, 0);
    TRY(set_mempolicy, 0, nullptr, 0);
    TRY(lookup_dcookie, 0, nullptr, 0);
    return guest.finish();
}
