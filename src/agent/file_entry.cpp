#include "agent/file_entry.hpp"

#include <fcntl.h>
#include <limits.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <functional>

#include "agent/places.hpp"
#include "wire/codec.hpp"

namespace oyat::agent {
namespace {

std::string metadata_prefix = "user.oyat.";

// Calls back with the names of a list of extended attributes that are ours, without the prefix.
void for_each_key(std::string_view list, const std::function<void(std::string_view key)>& callback) {
    while (!list.empty()) {
        const std::size_t end = std::min(list.find('\0'), list.size());
        const std::string_view name = list.substr(0, end);
        list.remove_prefix(std::min(end + 1, list.size()));
        if (name.starts_with(metadata_prefix)) callback(name.substr(metadata_prefix.size()));
    }
}

std::map<std::string, std::string> read_metadata(const std::string& path) {
    std::map<std::string, std::string> metadata;
    const ssize_t size = ::llistxattr(path.c_str(), nullptr, 0);
    if (size <= 0) return metadata;
    std::string names(static_cast<std::size_t>(size), '\0');
    names.resize(static_cast<std::size_t>(
        std::max<ssize_t>(0, ::llistxattr(path.c_str(), names.data(), names.size()))));
    std::size_t left = kMaxMetadata;
    for_each_key(names, [&](std::string_view key) {
        const std::string name = metadata_prefix + std::string{key};
        std::string value(4096, '\0');
        const ssize_t length = ::lgetxattr(path.c_str(), name.c_str(), value.data(), value.size());
        if (length < 0 || key.size() + static_cast<std::size_t>(length) > left) return;
        value.resize(static_cast<std::size_t>(length));
        left -= key.size() + value.size();
        metadata.emplace(key, std::move(value));
    });
    return metadata;
}

std::string read_link(int directory, const char* name) {
    char text[PATH_MAX];
    const ssize_t length = ::readlinkat(directory, name, text, sizeof text);
    return length > 0 ? std::string{text, static_cast<std::size_t>(length)} : std::string{};
}

void describe_target(int directory, const char* name, wire::FileEntry& entry) {
    const Answer<Fd> target = open_at(directory, name, O_PATH);
    struct stat found{};
    if (!target || ::fstat(target->get(), &found) != 0) {
        entry.link_target = read_link(directory, name);
        return;
    }
    entry.target_type = file_type(found.st_mode);
    entry.target_mode = found.st_mode;
    entry.link_target = read_link(AT_FDCWD, path_of_fd(target->get()).c_str());
}

// A file's time can be anything that its owner wants, also beyond what nanoseconds can count.
std::int64_t nanos(const timespec& time) {
    std::int64_t result = 0;
    if (__builtin_mul_overflow(std::int64_t{time.tv_sec}, 1'000'000'000, &result)) return 0;
    return __builtin_add_overflow(result, time.tv_nsec, &result) ? 0 : result;
}

}  // namespace

void set_metadata_space(std::string_view space) {
    metadata_prefix = "user." + std::string{space.empty() ? "oyat" : space} + ".";
}

wire::FileType file_type(mode_t mode) {
    switch (mode & S_IFMT) {
        case S_IFREG: return wire::FileType::file;
        case S_IFDIR: return wire::FileType::directory;
        case S_IFLNK: return wire::FileType::symlink;
        case S_IFIFO: return wire::FileType::fifo;
        case S_IFSOCK: return wire::FileType::socket;
        case S_IFBLK: return wire::FileType::block_device;
        case S_IFCHR: return wire::FileType::char_device;
        default: return wire::FileType::unknown;
    }
}

Answer<wire::FileEntry> describe(int directory, const char* name, std::string path, Users& users) {
    wire::FileEntry entry{.path = std::move(path)};
    struct stat found{};
    if (::fstatat(directory, name, &found, AT_SYMLINK_NOFOLLOW) != 0) {
        return std::unexpected{path_refusal(errno, entry.path)};
    }
    entry.type = file_type(found.st_mode);
    entry.size = static_cast<std::uint64_t>(found.st_size);
    entry.mode = found.st_mode;
    entry.uid = found.st_uid;
    entry.gid = found.st_gid;
    entry.owner = users.user_name(found.st_uid);
    entry.group = users.group_name(found.st_gid);
    entry.mtime_ns = nanos(found.st_mtim);
    entry.links = found.st_nlink;
    if (S_ISLNK(found.st_mode)) describe_target(directory, name, entry);
    if (S_ISREG(found.st_mode) || S_ISDIR(found.st_mode)) {
        entry.metadata = read_metadata(path_of_fd(directory) + "/" + name);
    }
    return entry;
}

Answer<wire::FileEntry> describe_path(const std::string& path, Users& users) {
    const Answer<Place> place = place_of(path);
    if (!place) return std::unexpected{place.error()};
    users.refresh();
    return describe(place->directory.get(), place->name.c_str(), path, users);
}

Status replace_metadata(int file, const std::map<std::string, std::string>& metadata) {
    std::string names(kMaxMetadata, '\0');
    const ssize_t size = ::flistxattr(file, names.data(), names.size());
    names.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    for_each_key(names, [&](std::string_view key) {
        const std::string name = metadata_prefix + std::string{key};
        if (!metadata.contains(std::string{key})) ::fremovexattr(file, name.c_str());
    });
    for (const auto& [key, value] : metadata) {
        const std::string name = metadata_prefix + key;
        if (key.empty() || name.find('\0') != name.npos || name.size() > XATTR_NAME_MAX) {
            return refusal(Errc::invalid_argument,
                           "metadata key " + quoted(key) + " is empty, too long or has a NUL");
        }
        if (::fsetxattr(file, name.c_str(), value.data(), value.size(), 0) == 0) continue;
        if (errno == EOPNOTSUPP) {
            return refusal(Errc::unimplemented, "the file system there keeps no metadata", errno);
        }
        return errno_refusal(errno, "metadata " + quoted(key));
    }
    return {};
}

std::string entry_event(wire::FileEntry entry) {
    wire::FileEntries entries;
    entries.entries.push_back(std::move(entry));
    return wire::encode(entries);
}

}  // namespace oyat::agent
