#include "layers/user_namespace.hpp"

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "base/defer.hpp"
#include "base/throwing.hpp"

namespace oyat::layers {

Fd make_user_namespace(std::uint32_t base) {
    return in("make user namespace", [&] {
        // No exit signal: the caller's SIGCHLD handling need not know of this child.
        clone_args args{.flags = CLONE_NEWUSER, .exit_signal = 0};
        const pid_t parent = ::getpid();
        const auto child = static_cast<pid_t>(sys(::syscall(SYS_clone3, &args, sizeof args), "clone3"));
        if (child == 0) {
            // It ends with us, also when we are killed right here: it holds copies of all our descriptors and locks.
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (::getppid() != parent) ::_exit(0);
            for (;;) ::pause();
        }
        const Defer end{[&] {
            ::kill(child, SIGKILL);
            ::waitpid(child, nullptr, __WALL);
        }};
        const std::string proc = "/proc/" + std::to_string(child);
        const std::string map = "0 " + std::to_string(base) + " 65536";
        for (const char* file : {"/uid_map", "/gid_map"}) {
            const Fd out{sys(::open((proc + file).c_str(), O_WRONLY | O_CLOEXEC), "open id map")};
            sys(::write(out.get(), map.data(), map.size()), "write id map");
        }
        return Fd{sys(::open((proc + "/ns/user").c_str(), O_RDONLY | O_CLOEXEC), "open user namespace")};
    });
}

}  // namespace oyat::layers
