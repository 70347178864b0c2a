#pragma once

#include <sys/types.h>

#include <string>

#include "base/fd.hpp"

namespace oyat::layers {

// A file system in an image file, mounted (nosuid, nodev, noatime) on a directory for as long as this lives.
//
// One image has one loop device and one superblock, however many mount it: when an earlier keeper's sandboxes
// still hold the file system, their device is found and joined. A second device for the same file would be
// two caches over one disk. The device frees itself when the last user is gone, also after kill -9 of the
// keeper.
class LoopMount {
public:
    LoopMount(int image, const std::string& fstype, const std::string& directory,
              const std::string& options = {});
    ~LoopMount();
    LoopMount(const LoopMount&) = delete;
    LoopMount& operator=(const LoopMount&) = delete;

    [[nodiscard]] const std::string& directory() const noexcept { return directory_; }
    [[nodiscard]] dev_t device() const noexcept { return device_; }

private:
    std::string directory_;
    dev_t device_ = 0;
};

// Whether a loop device stands on this image: somebody has it mounted, or did a moment ago.
[[nodiscard]] bool has_loop_device(int image);

}  // namespace oyat::layers
