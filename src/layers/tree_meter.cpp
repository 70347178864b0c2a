#include "layers/tree_meter.hpp"

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "base/throwing.hpp"
#include "layers/directory.hpp"
#include "layers/low_priority.hpp"

namespace oyat::layers {
namespace {

// The sandbox may change the tree meanwhile: what vanishes is skipped. Directories deeper than we have
// descriptors for are not counted, so a sandbox could hide bytes there; this is the meter of a store that
// promises no hard limit.
constexpr int kDeepest = 200;

void add_below(int directory, int depth, DiskUse& sum) {
    for (const std::string& name : names_in(directory)) {
        struct stat facts{};
        if (::fstatat(directory, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) continue;
        sum.bytes += static_cast<std::uint64_t>(facts.st_blocks) * 512;
        ++sum.inodes;
        if (!S_ISDIR(facts.st_mode) || depth == kDeepest) continue;
        const Fd inner{::openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
        if (inner) add_below(inner.get(), depth + 1, sum);
    }
}

}  // namespace

TreeMeter::TreeMeter() {
    void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw errno_error(errno, "memory for a measurement");
    shared_ = static_cast<Shared*>(memory);
}

TreeMeter::~TreeMeter() {
    if (child_ > 0) {
        ::kill(child_, SIGKILL);
        ::waitpid(child_, nullptr, __WALL);
    }
    ::munmap(shared_, sizeof(Shared));
}

DiskUse TreeMeter::measure(int directory) {
    if (child_ > 0 && ::waitpid(child_, nullptr, __WALL | WNOHANG) != 0) child_ = -1;
    if (child_ < 0) {
        clone_args args{.flags = 0, .exit_signal = 0};
        child_ = static_cast<pid_t>(sys(::syscall(SYS_clone3, &args, sizeof args), "start measurement"));
        if (child_ == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            DiskUse sum;
            try {
                add_below(become_low_priority_with(directory), 0, sum);
            } catch (const Error&) {
                ::_exit(1);  // the tree is being removed
            }
            *shared_ = {.bytes = sum.bytes, .inodes = sum.inodes};
            ::_exit(0);
        }
    }
    return {.bytes = shared_->bytes, .inodes = shared_->inodes};
}

}  // namespace oyat::layers
