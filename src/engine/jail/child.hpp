#pragma once

#include <linux/filter.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

// The first process of a jail, from clone3 to execveat: straight-line code without allocation, exceptions or
// locks. Everything that it needs lies ready in a ChildPlan before the clone; what goes wrong leaves as one
// fixed-size record. Only the steps and their order live here, the reasons for them in
// docs/internals/jail.md.
namespace oyat::jail {

enum class Step : std::uint32_t {
    none,
    wait_for_maps,
    join_cgroup,
    cgroup_namespace,
    uptime,
    identity,
    private_mounts,
    mount_root,
    mount_proc,
    cover_proc,
    mount_dev,
    mount_pts,
    mount_shm,
    mount_sys,
    mount_cgroup,
    pivot,
    host_name,
    close_user_namespaces,
    read_only_sysctls,
    session,
    limits,
    capabilities,
    descriptors,
    filter,
    execute,
};

[[nodiscard]] std::string_view to_string(Step step) noexcept;

struct Failure {
    Step step = Step::none;
    std::int32_t error = 0;
};

// A file of the keeper's tmpfs that stands in for one of /proc.
struct Cover {
    const char* source;  // relative to the working directory at the time of the clone
    const char* target;  // relative to the new root
};

struct CgroupMount {
    const char* type;        // "cgroup" or "cgroup2"
    const char* target;      // relative to the new root
    const char* options[4];  // controllers of a v1 hierarchy, ended by nullptr
};

// A file written inside, where the template has room for it.
struct OwnFile {
    const char* path;
    const char* text;
    std::size_t length;
};

template <class T>
struct View {
    const T* first = nullptr;
    std::size_t count = 0;
    [[nodiscard]] const T* begin() const noexcept { return first; }
    [[nodiscard]] const T* end() const noexcept { return first + count; }
};

// All descriptors are 16 or above, so that dup2 to the agent's numbers destroys none. The working directory
// has an empty directory `root`, which the mapped root can reach, the device tree on `dev` and the sources of
// the covers.
struct ChildPlan {
    int maps_ready = -1;           // one byte arrives when uid_map and gid_map are written
    int maps_ready_writer = -1;    // the keeper's end, closed first: its death must be seen
    int report = -1;               // closed by the exec, or carries one Failure
    View<int> v1_tasks;            // v1 groups to join
    const char* uptime = nullptr;  // text for timens_offsets; null where there are no time namespaces
    int root = -1;                 // the overlay, not attached yet
    View<Cover> covers;
    const char* sys = nullptr;  // directory that becomes /sys
    View<CgroupMount> cgroups;
    const char* host_name = nullptr;
    std::size_t host_name_length = 0;
    View<OwnFile> own_files;
    std::uint64_t open_files = 0;         // RLIMIT_NOFILE
    std::uint64_t kept_capabilities = 0;  // one bit each
    int listener = -1;                    // becomes descriptor 3
    int cgroup_tree = -1;                 // becomes descriptor 4 unless -1
    sock_fprog filter{};
    int agent = -1;
    const char* const* argv = nullptr;
    const char* const* envp = nullptr;
};

[[noreturn]] void run_child(const ChildPlan& plan) noexcept;

}  // namespace oyat::jail
