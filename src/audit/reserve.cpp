#include "audit/reserve.hpp"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/fd.hpp"

namespace oyat::audit {

bool Reserve::take() {
    if (held_) return true;
    struct statvfs facts{};
    if (::statvfs(file_.parent_path().c_str(), &facts) != 0) return false;
    std::error_code absent;
    const std::uint64_t there =
        std::filesystem::exists(file_, absent) ? std::filesystem::file_size(file_, absent) : 0;
    if (there < bytes_ && facts.f_bavail * facts.f_frsize < 2 * bytes_) return false;
    const Fd file{::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)};
    held_ = file && ::posix_fallocate(file.get(), 0, static_cast<off_t>(bytes_)) == 0;
    if (!held_) give_up();
    return held_;
}

void Reserve::give_up() {
    ::unlink(file_.c_str());
    held_ = false;
}

}  // namespace oyat::audit
