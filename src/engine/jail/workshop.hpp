#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "engine/jail/cgroup_view.hpp"

namespace oyat::jail {

// Of a jail's fact files the one that never changes: a sandbox that was started anew tells so by its boot_id,
// which the kernel that it shares would not.
inline constexpr const char* kBootId = "boot_id";

// What all jails are assembled from: a tmpfs in the keeper's private mount namespace with
//
//   root/        empty; each jail's child moves its root file system here, in its own mount namespace
//   dev/         the device tree, read-only, cloned by each jail
//   empty/       stands in for a directory of /proc that is the whole machine's
//   blank        the same for a file
//   facts/<id>/  the files that stand in for those of /proc, and the directory that becomes /sys
//
// It is 0755 all the way, because the child is already the mapped root when it looks these names up. It is
// the working directory of the keeper while a jail is started: parents of it may be closed to everybody else.
class Workshop {
public:
    // Mounts the tmpfs on `dir` and makes the device tree. The caller is in its private mount namespace.
    Workshop(const std::string& dir, const CgroupView& cgroup_view);

    void enter() const;  // makes it the working directory

    // Empty fact files for a jail that is about to start, and their end.
    void make_facts(std::string_view id) const;
    void remove_facts(std::string_view id) const noexcept;

private:
    Fd dir_;
    std::vector<std::string> fact_dirs_;  // below facts/<id>, parents first
    std::vector<std::string> fact_files_;
};

}  // namespace oyat::jail
