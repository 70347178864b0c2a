#include "agent/tree_copy.hpp"

#include <fcntl.h>
#include <limits.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>

#include "agent/copy_bytes.hpp"

namespace oyat::agent {
namespace {

constexpr std::size_t kMaxLevels = 500;  // two descriptors each

void copy_attributes(int from, int to) {
    std::string names(64 * 1024, '\0');
    const ssize_t size = ::flistxattr(from, names.data(), names.size());
    std::string_view rest{names.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
    std::string value(64 * 1024, '\0');
    while (!rest.empty()) {
        const char* const name = rest.data();
        rest.remove_prefix(std::min(rest.find('\0') + 1, rest.size()));
        const ssize_t length = ::fgetxattr(from, name, value.data(), value.size());
        // Those that the one who acts may not set (security.*) are not his to carry along.
        if (length >= 0) ::fsetxattr(to, name, value.data(), static_cast<std::size_t>(length), 0);
    }
}

}  // namespace

Status TreeCopy::advance() {
    if (file_from_) return continue_file();
    if (!started_) {
        started_ = true;
        return copy_name(from_.directory.get(), from_.name.c_str(), to_.directory.get(), to_.name.c_str());
    }
    if (levels_.empty()) {
        done_ = true;
        return {};
    }
    Level& level = levels_.back();
    if (!level.names.empty()) {
        const std::string name = level.names.take_any();
        return copy_name(level.from.get(), name.c_str(), level.to.get(), name.c_str());
    }
    if (!level.read) return read_names(level);
    finish(level.to.get(), level.from.get(), level.attributes);
    levels_.pop_back();
    return {};
}

Status TreeCopy::read_names(Level& level) {
    const int got = level.names.read_from(level.from.get(), loop_.scratch(), Loop::kScratch);
    if (got < 0) return path_refusal(errno, path_);
    level.read = got == 0;
    return {};
}

Status TreeCopy::copy_name(int from, const char* from_name, int to, const char* to_name) {
    struct stat found{};
    if (::fstatat(from, from_name, &found, AT_SYMLINK_NOFOLLOW) != 0) return path_refusal(errno, path_);
    if (S_ISREG(found.st_mode)) return start_file(from, from_name, to, to_name, found);
    if (S_ISDIR(found.st_mode)) return enter(from, from_name, to, to_name, found);
    if (S_ISLNK(found.st_mode)) return copy_link(from, from_name, to, to_name, found);
    if (S_ISFIFO(found.st_mode)) {
        return ::mkfifoat(to, to_name, found.st_mode & 07777) == 0 ? Status{} : path_refusal(errno, path_);
    }
    return refusal(Errc::failed_precondition,
                   "path " + quoted(path_) + ": sockets and devices cannot be moved there", EXDEV);
}

Status TreeCopy::start_file(int from, const char* from_name, int to, const char* to_name,
                            const struct stat& found) {
    Answer<Fd> source = open_at(from, from_name, O_RDONLY | O_NOFOLLOW);
    if (!source) return std::move(source).error();
    Answer<Fd> target = open_at(to, to_name, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (!target) return std::move(target).error();
    file_from_ = *std::move(source);
    file_to_ = *std::move(target);
    file_attributes_ = found;
    return {};
}

Status TreeCopy::continue_file() {
    const ssize_t piece = copy_some(loop_, file_from_.get(), file_to_.get());
    if (piece < 0) return path_refusal(errno, path_);
    if (piece > 0) return {};
    finish(file_to_.get(), file_from_.get(), file_attributes_);
    file_from_.reset();
    file_to_.reset();
    return {};
}

Status TreeCopy::copy_link(int from, const char* from_name, int to, const char* to_name,
                           const struct stat& found) {
    char text[PATH_MAX];
    const ssize_t length = ::readlinkat(from, from_name, text, sizeof text - 1);
    if (length < 0) return path_refusal(errno, path_);
    text[length] = '\0';
    if (::symlinkat(text, to, to_name) != 0) return path_refusal(errno, path_);
    static_cast<void>(::fchownat(to, to_name, found.st_uid, found.st_gid, AT_SYMLINK_NOFOLLOW));
    return {};
}

Status TreeCopy::enter(int from, const char* from_name, int to, const char* to_name,
                       const struct stat& found) {
    if (levels_.size() >= kMaxLevels) {
        return refusal(Errc::failed_precondition, "path " + quoted(path_) + " has more than 500 levels");
    }
    Answer<Fd> source = open_at(from, from_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!source) return std::move(source).error();
    if (::mkdirat(to, to_name, 0700) != 0) return path_refusal(errno, path_);
    Answer<Fd> target = open_at(to, to_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!target) return std::move(target).error();
    levels_.push_back({.from = *std::move(source), .to = *std::move(target), .attributes = found});
    return {};
}

// The mode comes after the owner, whose change clears its set-user-id bits, and the times come last.
void TreeCopy::finish(int to, int from, const struct stat& attributes) {
    copy_attributes(from, to);
    static_cast<void>(::fchown(to, attributes.st_uid, attributes.st_gid));
    ::fchmod(to, attributes.st_mode & 07777);
    const std::array<timespec, 2> times{attributes.st_atim, attributes.st_mtim};
    ::futimens(to, times.data());
}

}  // namespace oyat::agent
