#include "layers/user_namespace.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "base/defer.hpp"
#include "base/throwing.hpp"

namespace oyat::layers {
namespace {

// Shares its maker's memory and descriptors, so that it costs no copy of them, and holds no lock longer than
// the maker does. It ends with the maker, also when that is killed right here.
int stay(void* maker) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != *static_cast<const pid_t*>(maker)) ::_exit(0);
    for (;;) ::pause();
}

}  // namespace

UserNamespaces::UserNamespaces() : stack_{std::make_unique<std::byte[]>(kStackBytes)} {}

UserNamespaces::~UserNamespaces() {
    for (const pid_t helper : killed_) ::waitpid(helper, nullptr, __WALL);
}

Fd UserNamespaces::make(std::uint32_t base) {
    return in("make user namespace", [&] {
        reap_ended();
        killed_.reserve(killed_.size() + 1);
        // No exit signal: the caller's SIGCHLD handling need not know of this child.
        pid_t own = ::getpid();
        const int flags = CLONE_NEWUSER | CLONE_VM | CLONE_FILES;
        const pid_t helper = sys(::clone(stay, stack_.get() + kStackBytes, flags, &own), "clone");
        const Defer end{[&] {
            ::kill(helper, SIGKILL);
            killed_.push_back(helper);
        }};
        const std::string proc = "/proc/" + std::to_string(helper);
        const std::string map = "0 " + std::to_string(base) + " 65536";
        for (const char* file : {"/uid_map", "/gid_map"}) {
            const Fd out{sys(::open((proc + file).c_str(), O_WRONLY | O_CLOEXEC), "open id map")};
            sys(::write(out.get(), map.data(), map.size()), "write id map");
        }
        return Fd{sys(::open((proc + "/ns/user").c_str(), O_RDONLY | O_CLOEXEC), "open user namespace")};
    });
}

void UserNamespaces::reap_ended() {
    std::erase_if(killed_, [](pid_t helper) { return ::waitpid(helper, nullptr, __WALL | WNOHANG) != 0; });
}

}  // namespace oyat::layers
