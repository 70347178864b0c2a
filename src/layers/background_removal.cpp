#include "layers/background_removal.hpp"

#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.hpp"
#include "base/throwing.hpp"
#include "layers/directory.hpp"
#include "layers/low_priority.hpp"

namespace oyat::layers {

void remove_in_background(int dir, const std::string& name) {
    // Two generations: init inherits the second and reaps it, whenever it ends.
    clone_args args{.flags = 0, .exit_signal = 0};
    const auto child = static_cast<pid_t>(sys(::syscall(SYS_clone3, &args, sizeof args), "start removal"));
    if (child != 0) {
        ::waitpid(child, nullptr, __WALL);
        return;
    }
    if (::fork() != 0) ::_exit(0);
    const int kept = become_low_priority_with(dir);
    try {
        remove_tree(kept, name);
    } catch (const Error& e) {
        log::error("removing a tree failed", {{"error", e.what()}});
    }
    ::_exit(0);
}

}  // namespace oyat::layers
