#include "layers/store_image.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <vector>

#include "base/defer.hpp"
#include "base/throwing.hpp"
#include "layers/program.hpp"

namespace oyat::layers {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 30;
constexpr std::uint64_t kFewestBytes = std::uint64_t{256} << 20;

std::uint64_t size_for(const std::string& state_dir) {
    struct statvfs host{};
    sys(::statvfs(state_dir.c_str(), &host), "statfs of the state");
    const std::uint64_t free = host.f_bavail * host.f_frsize;
    if (free / 10 * 8 < kFewestBytes) throw Error{Errc::exhausted, "too little room for a store image"};
    return std::min(kMostBytes, free / 10 * 8);
}

std::vector<std::string> words_of(const std::string& line) {
    std::istringstream stream{line};
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

// Appears under its name only when it is whole.
void make_image(const std::string& path, const StoreImage& image, std::uint64_t bytes) {
    const std::string temporary = path + ".new";
    Defer undo{[&] { ::unlink(temporary.c_str()); }};
    const int flags = O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC;
    const Fd file{sys(::open(temporary.c_str(), flags, 0600), "create " + temporary)};
    // On a host's btrfs a copy-on-write image would break into pieces; elsewhere there is no such attribute.
    int attributes = FS_NOCOW_FL;
    (void)::ioctl(file.get(), FS_IOC_SETFLAGS, &attributes);
    sys(::ftruncate(file.get(), static_cast<off_t>(bytes)), "size " + temporary);
    std::vector<std::string> command = words_of(image.mkfs);
    command.push_back(temporary);
    run_program(std::move(command));
    sys(::rename(temporary.c_str(), path.c_str()), "rename " + temporary);
    undo.dismiss();
}

}  // namespace

std::unique_ptr<LoopMount> open_store_image(const std::string& state_dir, const StoreImage& image,
                                            std::uint64_t bytes, const Staging& staging) {
    const std::string path = state_dir + "/" + image.file;
    return in("open store image", [&] {
        if (::access(path.c_str(), F_OK) != 0)
            make_image(path, image, bytes == 0 ? size_for(state_dir) : bytes);
        const Fd file{sys(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC), "open " + path)};
        return std::make_unique<LoopMount>(file.get(), image.fstype, staging.mount_point("store"),
                                           image.options);
    });
}

}  // namespace oyat::layers
