#pragma once

#include <string>

namespace oyat::microvm {

// Where things are. All of it is root's, 0700.
struct Places {
    std::string state;   // kept over restarts of the host: kernels, disks of templates, warm machines
    std::string shared;  // on a tmpfs, of all servers of the machine: what was found out about it
    std::string run;     // on a tmpfs: what is known of living sandboxes, mount points
    std::string kernel;  // `vmlinuz` and `modules/*.ko`, as scripts/make-kernel leaves them
    std::string agent;   // the static executable

    [[nodiscard]] std::string guests() const { return state + "/guests"; }
    [[nodiscard]] std::string bases() const { return state + "/bases"; }
    [[nodiscard]] std::string warm() const { return state + "/warm"; }
    [[nodiscard]] std::string boxes() const { return run + "/boxes"; }
    [[nodiscard]] std::string box(std::string_view id) const { return boxes() + "/" + std::string{id}; }
    [[nodiscard]] std::string cage() const { return run + "/cage"; }  // an empty directory
};

// Makes the directories.
void make_places(const Places& places);

}  // namespace oyat::microvm
