#include "layers/bound_view.hpp"

#include <fcntl.h>
#include <sys/mount.h>

#include <utility>

#include "base/throwing.hpp"

namespace oyat::layers {

BoundView::BoundView(int directory, std::string at) : at_{std::move(at)} {
    const Fd tree{
        sys(::open_tree(directory, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC), "clone mount")};
    mount_attr attr{.attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOATIME,
                    .attr_clr = MOUNT_ATTR__ATIME};
    sys(::mount_setattr(tree.get(), "", AT_EMPTY_PATH, &attr, sizeof attr), "restrict mount");
    sys(::move_mount(tree.get(), "", AT_FDCWD, at_.c_str(), MOVE_MOUNT_F_EMPTY_PATH), "attach mount");
}

BoundView::~BoundView() {
    ::umount2(at_.c_str(), MNT_DETACH);
}

}  // namespace oyat::layers
