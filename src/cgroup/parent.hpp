#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "cgroup/group.hpp"
#include "cgroup/hierarchies.hpp"
#include "cgroup/limits.hpp"

namespace oyat::cgroup {

// One state's own directory, `oyat-<state id>`, in every hierarchy that oyat uses, with one group per sandbox
// below. It holds no process itself: on v2 a group with controllers enabled below it may not. Sandboxes in it
// outlive the keeper; the next keeper of the same state finds them by name.
class Parent {
public:
    // Makes the directories that are absent and enables the controllers. `delegated` is the v2 group that
    // systemd's holder unit keeps for us (as an absolute path); empty = the root of the v2 tree. The v1
    // directories always stand at the root of their hierarchy, so that every keeper of the state finds them
    // whichever group it was started in. `state_id` is [a-z0-9-]{1,40}.
    Parent(const Hierarchies& hierarchies, std::string_view state_id, const std::string& delegated = {});

    // The block device whose traffic `io_bytes_per_second` limits: the store's (a partition counts as its
    // disk). False when this machine can't throttle it; then, as without a call, nothing is limited.
    bool throttle_device(dev_t device);

    // Makes the group in all hierarchies with its limits in force, before any process is in it. `owner` is
    // the sandbox's mapped root: it gets the v2 directory, its cgroup.procs and cgroup.threads, so that the
    // agent can make child groups `c<N>` for commands and move processes among them. All limit files stay
    // root's, and no controller is enabled for the children, so the limits are those of the whole sandbox.
    // Undoes itself when it fails. `name` is [a-z0-9-]{1,40}.
    [[nodiscard]] Group create(std::string_view name, const Limits& limits, uid_t owner) const;

    // A group that a former keeper made, if any hierarchy has one of that name.
    [[nodiscard]] std::optional<Group> find(std::string_view name) const;

    // The groups that exist in any hierarchy, sorted: what is left of sandboxes that no record knows is here.
    [[nodiscard]] std::vector<std::string> names() const;

    // Removes our directories where no group is left below. True when nothing of the state remains.
    bool remove() const;

    // How each limit is enforced on this machine, for the server's info and `oyat doctor`.
    [[nodiscard]] std::vector<Mechanism> mechanisms() const;

    [[nodiscard]] Mode mode() const noexcept { return mode_; }

private:
    friend class Group;
    friend class OomWatch;

    // Our directory in one hierarchy. On v1 several controllers may share one hierarchy.
    struct Tree {
        Fd dir;
        std::string path;
    };

    // The directory of a controller's v1 hierarchy, or -1: at most one of v1() and v2_has() tells of a
    // controller.
    [[nodiscard]] int v1(Controller controller) const noexcept;
    [[nodiscard]] bool v2_has(Controller controller) const noexcept;
    [[nodiscard]] int v2() const noexcept { return v2_ ? v2_->dir.get() : -1; }
    [[nodiscard]] std::vector<int> trees() const;
    [[nodiscard]] Mechanism io_mechanism() const;

    Mode mode_;
    std::optional<Tree> v2_;
    std::string v2_controllers_;  // those enabled for our groups, as cgroup.subtree_control lists them
    std::vector<Tree> v1_;
    std::map<Controller, std::size_t> v1_of_;  // index into v1_
    std::string io_device_;                    // "8:0"; empty when nothing is throttled
};

}  // namespace oyat::cgroup
