#include "layers/loop_mount.hpp"

#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <cerrno>
#include <optional>
#include <vector>

#include "base/throwing.hpp"
#include "layers/directory.hpp"

namespace oyat::layers {
namespace {

struct LoopDevice {
    Fd fd;
    std::string path;
};

struct stat facts_of(int fd) {
    struct stat facts{};
    sys(::fstat(fd, &facts), "stat image");
    return facts;
}

// The device that already stands on this image. Only numbers are compared: the path may have changed since.
std::optional<LoopDevice> find_device(int image) {
    const struct stat wanted = facts_of(image);
    const Fd blocks{sys(::open("/sys/block", O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open /sys/block")};
    for (const std::string& name : names_in(blocks.get())) {
        if (!name.starts_with("loop")) continue;
        // A device without a file has no such directory, and must not be opened just to learn that.
        if (::faccessat(blocks.get(), (name + "/loop/backing_file").c_str(), F_OK, 0) != 0) continue;
        const std::string path = "/dev/" + name;
        Fd device{::open(path.c_str(), O_RDWR | O_CLOEXEC)};
        loop_info64 info{};
        if (!device || ::ioctl(device.get(), LOOP_GET_STATUS64, &info) != 0) continue;
        if (info.lo_device == wanted.st_dev && info.lo_inode == wanted.st_ino)
            return LoopDevice{std::move(device), path};
    }
    return std::nullopt;
}

LoopDevice attach(int image) {
    const Fd control{sys(::open("/dev/loop-control", O_RDWR | O_CLOEXEC), "open /dev/loop-control")};
    for (;;) {
        const int number = sys(::ioctl(control.get(), LOOP_CTL_GET_FREE), "find a free loop device");
        const std::string path = "/dev/loop" + std::to_string(number);
        Fd device{sys(::open(path.c_str(), O_RDWR | O_CLOEXEC), "open " + path)};
        // Direct I/O where the file system below can: else every page is cached twice.
        loop_config config{.fd = static_cast<__u32>(image),
                           .block_size = 4096,
                           .info = {.lo_flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO}};
        if (::ioctl(device.get(), LOOP_CONFIGURE, &config) == 0) return {std::move(device), path};
        if (errno != EBUSY) throw errno_error(errno, "attach image to " + path);
        // Somebody else took this one in between.
    }
}

}  // namespace

LoopMount::LoopMount(int image, const std::string& fstype, const std::string& directory,
                     const std::string& options)
    : directory_{directory} {
    std::optional<LoopDevice> device = find_device(image);
    if (!device) device = attach(image);
    device_ = facts_of(device->fd.get()).st_rdev;
    sys(::mount(device->path.c_str(), directory.c_str(), fstype.c_str(), MS_NOSUID | MS_NODEV | MS_NOATIME,
                options.c_str()),
        "mount " + fstype + " image");
}

LoopMount::~LoopMount() {
    ::umount2(directory_.c_str(), MNT_DETACH);
}

bool has_loop_device(int image) {
    return find_device(image).has_value();
}

}  // namespace oyat::layers
