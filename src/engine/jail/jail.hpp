#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "cgroup/group.hpp"
#include "cgroup/hierarchies.hpp"
#include "engine/common/process.hpp"
#include "engine/jail/cgroup_view.hpp"
#include "engine/jail/child.hpp"
#include "engine/jail/workshop.hpp"
#include "layers/id_range.hpp"

namespace oyat::jail {

// Everything a jail is made of, ready before its first process exists.
struct Parts {
    std::string_view id;  // host name inside
    std::uint64_t generation = 0;
    layers::IdRange range;
    int root = -1;  // the overlay, unattached (layers::Staging::make_root)
    int netns = -1;
    int listener = -1;  // a listening unix socket, the agent's descriptor 3
    const cgroup::Group* group = nullptr;
    std::uint64_t open_files = 0;
    std::string_view extra_hosts;  // lines for /etc/hosts from the operator
};

// Starts jails: user, mount, pid, network, ipc, uts, cgroup and time namespaces around oyat-agent as pid 1,
// with a bounded set of capabilities and a system-call filter. What can be made once is made here; a start is
// one clone3 and what its child does (docs/internals/jail.md has the sequence).
//
// The process must be single-threaded and in its private mount namespace.
class Launcher {
public:
    // `agent` is a static executable; its bytes are copied into a sealed memfd, so that nothing on disk is
    // what runs inside, and nobody inside can write to it.
    Launcher(const std::string& work_dir, const std::string& agent, const cgroup::Hierarchies& hierarchies,
             std::string_view groups);

    // Returns when the agent has been executed. Throws with the step that failed; nothing is left then.
    [[nodiscard]] engine::Process start(const Parts& parts) const;

    // After the end of a jail: its fact files.
    void forget(std::string_view id) const noexcept { workshop_.remove_facts(id); }

private:
    struct Texts;
    struct Descriptors;

    [[nodiscard]] ChildPlan plan_for(const Parts& parts, const Texts& texts, const Descriptors& fds) const;
    [[nodiscard]] engine::Process clone_child(const ChildPlan& plan, const Parts& parts, int v2_group) const;

    CgroupView cgroup_view_;
    Workshop workshop_;
    Fd agent_;
    std::vector<sock_filter> filter_;
    bool time_namespaces_ = false;
};

}  // namespace oyat::jail
