#pragma once

#include <string>
#include <vector>

#include "base/fd.hpp"

namespace oyat::microvm {

// A file of the host that the cage shows under /vm.
struct ShownFile {
    Fd mount;  // of the file alone, not attached yet
    std::string name;
};
// Taken in the caller's mount namespace: /proc/self/fd/N leads there and nowhere else.
[[nodiscard]] ShownFile show_file(const std::string& path, std::string name);

// The file system that QEMU sees: the system's programs and libraries, read-only, a few devices, its own
// /proc, and under /vm exactly the files of its machine. For a process in a new mount and pid namespace, as
// root; `mount_point` is an empty directory. Everything else of the host is out of reach afterwards.
void enter_cage(const std::string& mount_point, const std::vector<ShownFile>& files, bool with_kvm);

}  // namespace oyat::microvm
