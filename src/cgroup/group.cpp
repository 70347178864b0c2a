#include "cgroup/group.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string_view>

#include "base/throwing.hpp"
#include "cgroup/files.hpp"
#include "cgroup/parent.hpp"

namespace oyat::cgroup {
namespace {

// Calls `visit` with each process id that a cgroup.procs file lists.
template <class Visit>
void for_each_pid(std::string_view procs, Visit&& visit) {
    const char* at = procs.data();
    const char* const end = at + procs.size();
    while (at < end) {
        pid_t pid = 0;
        const auto [next, error] = std::from_chars(at, end, pid);
        if (error == std::errc{} && pid > 0) visit(pid);
        at = next < end ? next + 1 : end;
    }
}

// Removes a v2 group's children and theirs. They are the agent's own work, so any depth and any number is
// expected.
void remove_children(int dir);

void remove_tree(int parent, const char* name) {
    if (::unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno != EBUSY) return;
    const Fd dir{::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    if (!dir) return;
    remove_children(dir.get());
    ::unlinkat(parent, name, AT_REMOVEDIR);
}

void remove_children(int dir) {
    for (const std::string& child : directories_in(dir)) remove_tree(dir, child.c_str());
}

}  // namespace

std::vector<Fd> Group::join_fds() const {
    std::vector<Fd> fds;
    // `tasks`, not `cgroup.procs`: a thread that moves itself alone needs no lock over all process groups of
    // the machine, which takes milliseconds to get.
    for (const Parent::Tree& tree : parent_->v1_) {
        fds.push_back(open_control(tree.dir.get(), name_ + "/tasks", O_WRONLY));
    }
    return fds;
}

Fd Group::tree_fd() const {
    if (!parent_->v2_) return {};
    return open_control(parent_->v2(), name_, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

bool Group::freeze(Millis wait) const {
    return in("freeze " + name_, [&] {
        const MonoTime end = std::chrono::steady_clock::now() + wait;
        const auto left = [&] {
            return std::chrono::duration_cast<Millis>(end - std::chrono::steady_clock::now()).count();
        };
        if (parent_->v2_) {
            const GroupFiles files{parent_->v2(), name_};
            const Fd events = files.open("cgroup.events", O_RDONLY);
            files.write("cgroup.freeze", "1");
            while (keyed_number(read_open(events.get()), "frozen") != 1) {
                if (left() <= 0) return false;
                pollfd changed{.fd = events.get(), .events = POLLPRI, .revents = 0};
                ::poll(&changed, 1, static_cast<int>(left()));
            }
            return true;
        }
        const GroupFiles files{parent_->v1(Controller::freezer), name_};
        // The v1 freezer tells nobody when it is done, and looks again for new processes at each write.
        for (;;) {
            files.write("freezer.state", "FROZEN");
            if (files.read("freezer.state").starts_with("FROZEN")) return true;
            if (left() <= 0) return false;
            const timespec pause{.tv_sec = 0, .tv_nsec = 200'000};
            ::nanosleep(&pause, nullptr);
        }
    });
}

void Group::thaw() const {
    in("thaw " + name_, [&] {
        if (parent_->v2_) {
            GroupFiles{parent_->v2(), name_}.write("cgroup.freeze", "0");
        } else {
            GroupFiles{parent_->v1(Controller::freezer), name_}.write("freezer.state", "THAWED");
        }
    });
}

bool Group::frozen() const {
    if (parent_->v2_) return GroupFiles{parent_->v2(), name_}.read("cgroup.freeze").starts_with('1');
    const std::string state = GroupFiles{parent_->v1(Controller::freezer), name_}.read("freezer.state");
    return state.starts_with("FR");  // FROZEN or FREEZING
}

void Group::kill() const {
    in("kill " + name_, [&] {
        if (parent_->v2_) {
            GroupFiles{parent_->v2(), name_}.write_if_present("cgroup.kill", "1");
            return;
        }
        // While frozen no process can end or be born, so the list is true and no pid in it can be another's.
        (void)freeze(Millis{100});
        const std::string procs = GroupFiles{parent_->v1(Controller::freezer), name_}.read("cgroup.procs");
        for_each_pid(procs, [](pid_t pid) { ::kill(pid, SIGKILL); });
        thaw();
    });
}

bool Group::empty() const {
    if (parent_->v2_) {
        return keyed_number(GroupFiles{parent_->v2(), name_}.read("cgroup.events"), "populated") == 0;
    }
    for (const int tree : parent_->trees()) {
        if (!GroupFiles{tree, name_}.read("cgroup.procs").empty()) return false;
    }
    return true;
}

bool Group::destroy() const {
    for (const int tree : parent_->trees()) remove_tree(tree, name_.c_str());
    for (const int tree : parent_->trees()) {
        if (is_present(tree, name_)) return false;
    }
    return true;
}

}  // namespace oyat::cgroup
