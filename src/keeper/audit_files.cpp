#include "keeper/audit_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <memory>

#include "base/throwing.hpp"

namespace oyat::keeper {
namespace {

constexpr std::uint32_t kMaxSegment = 999'999;
constexpr std::size_t kMaxName = 40;

std::string file_name(std::string_view name, std::uint32_t segment) {
    if (!is_plain_name(name) || segment == 0 || segment > kMaxSegment) {
        throw Error{Errc::invalid_argument, "not the name of an audit segment"};
    }
    std::array<char, 16> number{};
    std::snprintf(number.data(), number.size(), ".%06u.log", segment);
    return std::string{name} + number.data();
}

bool is_append_only(int file) noexcept {
    int flags = 0;
    return ::ioctl(file, FS_IOC_GETFLAGS, &flags) == 0 && (flags & FS_APPEND_FL) != 0;
}

enum class AppendOnly { on, off };

// Best effort: tmpfs and some others have no such attribute; the descriptor's own O_APPEND remains.
void set_append_only(int file, AppendOnly wanted) noexcept {
    int flags = 0;
    if (::ioctl(file, FS_IOC_GETFLAGS, &flags) != 0) return;
    flags = wanted == AppendOnly::on ? flags | FS_APPEND_FL : flags & ~FS_APPEND_FL;
    ::ioctl(file, FS_IOC_SETFLAGS, &flags);
}

}  // namespace

bool is_plain_name(std::string_view text) noexcept {
    return !text.empty() && text.size() <= kMaxName &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
}

AuditFiles::AuditFiles(const std::string& dir, gid_t readers, std::uint64_t retained_bytes)
    : readers_{readers}, retained_bytes_{retained_bytes} {
    in("audit directory", [&] {
        if (::mkdir(dir.c_str(), 0750) != 0 && errno != EEXIST) throw errno_error(errno, "make " + dir);
        dir_.reset(sys(::open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW), "open " + dir));
        sys(::fchown(dir_.get(), 0, readers), "give it to its readers");
        sys(::fchmod(dir_.get(), 0750), "set its mode");
    });
}

Fd AuditFiles::open(std::string_view name, std::uint32_t segment) const {
    const std::string file = file_name(name, segment);
    return in("audit segment", [&] {
        constexpr int flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW;
        // In two steps: the attribute of an existing file forbids to open it with O_CREAT.
        int opened = ::openat(dir_.get(), file.c_str(), flags);
        if (opened < 0 && errno == ENOENT) {
            opened = ::openat(dir_.get(), file.c_str(), flags | O_CREAT | O_EXCL, 0640);
        }
        Fd segment_file{sys(opened, "open")};
        if (is_append_only(opened)) return segment_file;
        // New, or left half made by a keeper that was killed here.
        sys(::fchown(opened, 0, readers_), "give to its readers");
        sys(::fchmod(opened, 0640), "set the mode");
        set_append_only(opened, AppendOnly::on);
        return Fd{sys(::openat(dir_.get(), file.c_str(), flags), "open")};
    });
}

void AuditFiles::drop(std::string_view name, std::uint32_t segment) const {
    const std::string file = file_name(name, segment);
    in("audit segment", [&] {
        const Fd opened{sys(::openat(dir_.get(), file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW), "open")};
        struct stat status{};
        sys(::fstat(opened.get(), &status), "stat");
        const auto written = std::chrono::system_clock::from_time_t(status.st_mtime);
        if (std::chrono::system_clock::now() - written < kRetention &&
            bytes_younger_than(written) <= retained_bytes_) {
            throw Error{Errc::denied, "the segment is younger than the 30 days that it is kept"};
        }
        set_append_only(opened.get(), AppendOnly::off);
        sys(::unlinkat(dir_.get(), file.c_str(), 0), "remove");
    });
}

std::uint64_t AuditFiles::bytes_younger_than(std::chrono::system_clock::time_point written) const {
    Fd again{sys(::openat(dir_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open the directory")};
    const std::unique_ptr<DIR, int (*)(DIR*)> entries{::fdopendir(again.get()), &::closedir};
    if (!entries) throw errno_error(errno, "read the directory");
    (void)again.release();
    std::uint64_t bytes = 0;
    while (const dirent* entry = ::readdir(entries.get())) {
        struct stat status{};
        if (::fstatat(dir_.get(), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
        const bool younger = std::chrono::system_clock::from_time_t(status.st_mtime) > written;
        if (S_ISREG(status.st_mode) && younger) bytes += static_cast<std::uint64_t>(status.st_size);
    }
    return bytes;
}

}  // namespace oyat::keeper
