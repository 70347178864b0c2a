#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/fd.hpp"
#include "layers/id_range.hpp"

namespace oyat::layers {

// The keeper's private mount namespace and a small tmpfs in it. Mounts made here are seen by nobody else and
// end with the keeper, except for what living sandboxes hold on to.
//
// Overlays are made from layers that are *attached* in the tmpfs under short names: detached id-mapped layers
// do not work on Linux 6.1, and the relative names are all that a sandbox sees in its own mount table.
class Staging {
public:
    // The most layers that a root may have below its upper: their names must fit a mount option of 255 bytes.
    static constexpr std::size_t kMostLayers = 60;

    // Moves the calling process, which must be single-threaded, into a new mount namespace (host unmounts
    // still reach it, ours never leave it), mounts the tmpfs on `dir`, an existing directory such as
    // /run/oyat/ID/stage, and leaves the process's working directory at /.
    explicit Staging(const std::string& dir);

    // The root file system of one sandbox: `lowers` (directories, newest first) below the box's upper, all
    // id-mapped to `range`, as an unattached mount (nodev, noatime; setuid programs work, for sudo). The
    // child moves it into place with move_mount. Throws rather than return a read-only root (threats J-23).
    [[nodiscard]] Fd make_root(std::span<const int> lowers, int box, const IdRange& range) const;

    // A directory in the tmpfs for somebody's mount, made if absent (0700), as a path.
    [[nodiscard]] std::string mount_point(std::string_view name) const;

private:
    std::string dir_;
    Fd slots_;  // directories "b", "0", "1", ...: where the layers of one overlay are attached while it is
                // made
};

}  // namespace oyat::layers
