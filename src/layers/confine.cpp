#include "layers/confine.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/fd.hpp"
#include "base/throwing.hpp"

namespace oyat::layers {
namespace {

constexpr std::uint64_t kMostMemory = std::uint64_t{1}
                                      << 30;  // decompressors ask for as much as the archive says

void make_root_the_world(int root) {
    // Cloned while we are still in the namespace that it is mounted in.
    const Fd tree{
        sys(::open_tree(root, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC), "clone tree")};
    mount_attr attr{.attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC};
    sys(::mount_setattr(tree.get(), "", AT_EMPTY_PATH, &attr, sizeof attr), "restrict tree");
    sys(::unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS), "leave the host's namespaces");
    sys(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), "keep mounts private");
    sys(::move_mount(tree.get(), "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH), "mount tree");
    sys(::fchdir(tree.get()), "enter tree");
    sys(::syscall(SYS_pivot_root, ".", "."), "make tree the root");
    sys(::umount2(".", MNT_DETACH), "let go of the old root");
    sys(::chdir("/"), "chdir /");
}

void keep_file_capabilities_only() {
    constexpr std::array kKept{CAP_CHOWN,  CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH,
                               CAP_FOWNER, CAP_FSETID,       CAP_SETFCAP};
    for (int capability = 0; ::prctl(PR_CAPBSET_READ, capability) >= 0; ++capability) {
        if (std::ranges::find(kKept, capability) == kKept.end()) ::prctl(PR_CAPBSET_DROP, capability);
    }
    std::uint32_t mask = 0;
    for (const int capability : kKept) mask |= 1U << capability;
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    std::array<__user_cap_data_struct, 2> data{};
    data[0] = {.effective = mask, .permitted = mask, .inheritable = 0};
    sys(::syscall(SYS_capset, &header, data.data()), "drop capabilities");
    sys(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges");
}

void close_all_but(std::vector<int> keep) {
    std::ranges::sort(keep);
    unsigned first = 3;
    for (const int fd : keep) {
        const auto kept = static_cast<unsigned>(fd);
        if (kept > first) ::syscall(SYS_close_range, first, kept - 1, 0);
        first = std::max(first, kept + 1);
    }
    ::syscall(SYS_close_range, first, ~0U, 0);
}

}  // namespace

void confine_to(int root, const std::vector<int>& keep) {
    in("confine", [&] {
        make_root_the_world(root);
        close_all_but(keep);
        constexpr bool has_terabytes_of_shadow = __has_feature(address_sanitizer);
        const rlimit memory{.rlim_cur = kMostMemory, .rlim_max = kMostMemory};
        if (!has_terabytes_of_shadow) sys(::setrlimit(RLIMIT_AS, &memory), "bound memory");
        keep_file_capabilities_only();
    });
}

}  // namespace oyat::layers
