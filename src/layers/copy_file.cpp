#include "layers/copy_file.hpp"

#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/throwing.hpp"

namespace oyat::layers {
namespace {

void copy_range(int from, int to, off_t at, off_t end) {
    sys(::lseek(to, at, SEEK_SET), "seek");
    while (at < end) {
        if (sys(::sendfile(to, from, &at, static_cast<std::size_t>(end - at)), "copy a file") == 0) {
            throw Error{Errc::internal, "a file became shorter while it was copied"};
        }
    }
}

}  // namespace

void copy_file(int from, int to) {
    if (::ioctl(to, FICLONE, from) == 0) return;
    struct stat status{};
    sys(::fstat(from, &status), "stat a file");
    sys(::ftruncate(to, status.st_size), "size a copy");
    for (off_t at = 0; at < status.st_size;) {
        const off_t data = ::lseek(from, at, SEEK_DATA);
        if (data < 0 && errno == ENXIO) return;  // a hole to the end
        const off_t hole = sys(::lseek(from, sys(data, "find data"), SEEK_HOLE), "find a hole");
        copy_range(from, to, data, hole);
        at = hole;
    }
}

}  // namespace oyat::layers
