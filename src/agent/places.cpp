#include "agent/places.hpp"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace oyat::agent {
namespace {

int open_without_magic(int directory, const char* path, std::uint64_t flags, std::uint32_t mode) {
    // O_PATH goes with few others, and openat2 minds where open did not.
    const std::uint64_t always = (flags & O_PATH) != 0 ? O_CLOEXEC : O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    open_how how{.flags = flags | always, .mode = mode, .resolve = RESOLVE_NO_MAGICLINKS};
    const long fd = ::syscall(SYS_openat2, directory, path, &how, sizeof how);
    if (fd >= 0 || errno != ENOSYS) return static_cast<int>(fd);
    return ::openat(directory, path, static_cast<int>(flags | always), mode);  // gVisor
}

bool is_in_own_proc(int fd) {
    struct statfs type{};
    if (::fstatfs(fd, &type) != 0 || type.f_type != PROC_SUPER_MAGIC) return false;
    char path[PATH_MAX];
    const ssize_t length = ::readlink(path_of_fd(fd).c_str(), path, sizeof path);
    if (length <= 0) return true;
    const std::string with_slash = std::string{path, static_cast<std::size_t>(length)} + "/";
    return with_slash.find("/" + std::to_string(::getpid()) + "/") != std::string::npos;
}

std::string parent_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == 0 ? "/" : path.substr(0, slash);
}

std::string name_of(const std::string& path) {
    return path == "/" ? "." : path.substr(path.rfind('/') + 1);
}

}  // namespace

Status path_refusal(int err, std::string_view path) {
    const std::string what = "path " + quoted(path);
    switch (err) {
        case ENOENT:
        case ENOTDIR: return refusal(Errc::not_found, what + " does not exist", err);
        case EEXIST: return refusal(Errc::already_exists, what + " exists already", err);
        case EISDIR: return refusal(Errc::invalid_argument, what + " is a directory", err);
        case ELOOP:
            return refusal(Errc::failed_precondition, what + ": too many or forbidden symbolic links", err);
        case EROFS: return refusal(Errc::denied, what + " is on a read-only file system", err);
        case EBUSY:
        case ETXTBSY: return refusal(Errc::failed_precondition, what + " is in use", err);
        default: return errno_refusal(err, what);
    }
}

std::string path_of_fd(int fd) {
    return "/proc/self/fd/" + std::to_string(fd);
}

Answer<Fd> open_at(int directory, const char* path, std::uint64_t flags, std::uint32_t mode) {
    Fd fd{open_without_magic(directory, path, flags, mode)};
    if (!fd) return std::unexpected{path_refusal(errno, path)};
    if (is_in_own_proc(fd.get())) {
        return refused(Errc::denied, "path " + quoted(path) + " belongs to the agent", EACCES);
    }
    return fd;
}

Answer<Fd> open_path(const std::string& path, std::uint64_t flags, std::uint32_t mode) {
    return open_at(AT_FDCWD, path.c_str(), flags, mode);
}

Answer<Place> place_of(const std::string& path) {
    Answer<Fd> directory = open_path(parent_of(path), O_PATH | O_DIRECTORY);
    if (!directory) {
        Status why = path_refusal(static_cast<int>(directory.error().err), path);
        return std::unexpected{std::move(why)};
    }
    return Place{.directory = *std::move(directory), .name = name_of(path)};
}

Answer<Place> make_place(const std::string& path) {
    Answer<Place> there = place_of(path);
    if (!there && there.error().err == ENOTDIR) {
        return refused(Errc::invalid_argument, "path " + quoted(path) + ": a part of it is not a directory",
                       ENOTDIR);
    }
    if (there || there.error().err != ENOENT) return there;
    Answer<Fd> directory = open_path("/", O_PATH | O_DIRECTORY);
    const std::string parent = parent_of(path);
    if (!directory) return std::unexpected{std::move(directory).error()};
    for (std::size_t start = 1; start < parent.size();) {
        const std::size_t end = std::min(parent.find('/', start), parent.size());
        const std::string name = parent.substr(start, end - start);
        if (::mkdirat(directory->get(), name.c_str(), 0777) != 0 && errno != EEXIST) {
            return std::unexpected{path_refusal(errno, parent.substr(0, end))};
        }
        directory = open_at(directory->get(), name.c_str(), O_PATH | O_DIRECTORY);
        if (!directory) {
            const std::string so_far = parent.substr(0, end);
            if (directory.error().err != ENOTDIR) {
                return std::unexpected{path_refusal(static_cast<int>(directory.error().err), so_far)};
            }
            return refused(Errc::invalid_argument, "path " + quoted(so_far) + " is not a directory", ENOTDIR);
        }
        start = end + 1;
    }
    return Place{.directory = *std::move(directory), .name = name_of(path)};
}

bool found_top_directory(const std::string& name, const User& owner) {
    if (name.empty() || name == "." || name == "..") return false;
    const std::string path = "/" + name;
    // Nobody but root can put anything else in its place meanwhile.
    if (::mkdir(path.c_str(), 0755) != 0) return false;
    return ::chown(path.c_str(), owner.account.uid, owner.account.gid) == 0;
}

std::string top_parent_of(const std::string& path) {
    const std::size_t slash = path.find('/', 1);
    return slash == path.npos ? std::string{} : path.substr(1, slash - 1);
}

}  // namespace oyat::agent
