// The program that oyat itself runs as pid 1: not to be traced, read or looked into.
#include <dirent.h>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "guest.hpp"

int main() {
    Guest guest{"J-11"};
    guest.must_fail("ptrace attach", ptrace(PTRACE_ATTACH, 1, nullptr, nullptr), {EPERM, EACCES});
    guest.must_fail("ptrace seize", ptrace(PTRACE_SEIZE, 1, nullptr, nullptr), {EPERM, EACCES});
    for (const char* path :
         {"/proc/1/mem", "/proc/1/environ", "/proc/1/maps", "/proc/1/syscall", "/proc/1/stack",
          "/proc/1/auxv", "/proc/1/ns/net", "/proc/1/root/proc", "/proc/1/cwd/proc"}) {
        const int fd = open(path, O_RDONLY | O_CLOEXEC);
        char byte = 0;
        // Some of these open and refuse the read.
        guest.must_fail(path, fd < 0 ? fd : read(fd, &byte, 1), {EPERM, EACCES, EISDIR, ENOENT});
    }
    char link[256];
    guest.must_fail("readlink exe", readlink("/proc/1/exe", link, sizeof link), {EPERM, EACCES, ENOENT});
    guest.must_fail("readlink fd/3", readlink("/proc/1/fd/3", link, sizeof link), {EPERM, EACCES, ENOENT});
    DIR* fds = opendir("/proc/1/fd");
    guest.must_hold("list of its descriptors", fds == nullptr || readdir(fds) == nullptr || errno == EACCES);
    char byte = 0;
    iovec local{&byte, 1};
    iovec remote{reinterpret_cast<void*>(0x400000), 1};
    guest.must_fail("process_vm_readv", process_vm_readv(1, &local, 1, &remote, 1, 0), {EPERM, ESRCH});
    guest.must_fail("pidfd_getfd", syscall(SYS_pidfd_getfd, syscall(SYS_pidfd_open, 1, 0), 3, 0), {EPERM});
    return guest.finish();
}
