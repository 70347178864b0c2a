#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "cgroup/hierarchies.hpp"
#include "engine/jail/child.hpp"

namespace oyat::jail {

// What a sandbox finds below /sys/fs/cgroup: its own groups, read-only, so that programs which size
// themselves by their group (Go, Java, .NET, Node) do so.
class CgroupView {
public:
    // `groups` is the directory of our control groups in each hierarchy.
    CgroupView(const cgroup::Hierarchies& hierarchies, std::string_view groups);
    ~CgroupView();
    CgroupView(const CgroupView&) = delete;
    CgroupView& operator=(const CgroupView&) = delete;

    [[nodiscard]] const std::vector<CgroupMount>& mounts() const noexcept { return mounts_; }
    // The empty directories, below a /sys, that the mounts stand on.
    [[nodiscard]] const std::vector<std::string>& directories() const noexcept { return directories_; }
    // One more v1 group for every sandbox to join, or -1.
    [[nodiscard]] int tasks_to_join() const noexcept { return cpuset_tasks_.get(); }

private:
    void show_v1(const cgroup::Hierarchies& hierarchies, const std::string& groups);
    void make_cpuset(const std::string& hierarchy, const std::string& groups);

    std::vector<CgroupMount> mounts_;
    std::vector<std::string> directories_;
    std::string cpuset_;  // a group that all sandboxes share
    Fd cpuset_tasks_;
};

}  // namespace oyat::jail
