#include "agent/file_calls.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <optional>

#include "agent/file_entry.hpp"
#include "agent/places.hpp"

namespace oyat::agent {

Answer<wire::FileEntry> stat_path(const Actor& actor, Users& users, const wire::Stat& request) {
    const Answer<std::string> path = actor.resolve(request.path);
    if (!path) return std::unexpected{path.error()};
    const ActingAs acting{actor.user};
    return describe_path(*path, users);
}

Answer<wire::FileEntry> make_directory(const Actor& actor, Users& users, const wire::MakeDir& request) {
    const Answer<std::string> path = actor.resolve(request.path);
    if (!path) return std::unexpected{path.error()};
    if (!actor.named) {
        const std::string parent = top_parent_of(*path);
        const bool is_whole_path = parent.empty();
        if (found_top_directory(is_whole_path ? path->substr(1) : parent, actor.user) && is_whole_path) {
            return describe_path(*path, users);
        }
    }
    const ActingAs acting{actor.user};
    const Answer<Place> place = make_place(*path);
    if (!place) return std::unexpected{place.error()};
    const int directory = place->directory.get();
    const char* const name = place->name.c_str();
    if (::mkdirat(directory, name, 0777) != 0) {
        struct stat found{};
        if (errno != EEXIST) return std::unexpected{path_refusal(errno, *path)};
        if (::fstatat(directory, name, &found, 0) == 0 && S_ISDIR(found.st_mode)) {
            return refused(Errc::already_exists, "path " + quoted(*path) + " exists already", EEXIST);
        }
        return refused(Errc::invalid_argument, "path " + quoted(*path) + " exists and is not a directory",
                       EEXIST);
    }
    if (request.mode != 0) {
        // Not by its name, which whoever owns the parent may have given to something else by now.
        const Answer<Fd> made = open_at(directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW);
        if (made) ::chmod(path_of_fd(made->get()).c_str(), request.mode & 07777);
    }
    return describe_path(*path, users);
}

Answer<wire::FileEntry> change_mode(const Actor& actor, Users& users, const wire::Chmod& request) {
    const Answer<std::string> path = actor.resolve(request.path);
    if (!path) return std::unexpected{path.error()};
    std::uint32_t uid = UINT32_MAX;  // as it is
    std::uint32_t gid = UINT32_MAX;
    if (!request.owner.empty()) {
        const Answer<std::uint32_t> owner = users.uid_of(request.owner);
        if (!owner) return std::unexpected{owner.error()};
        uid = *owner;
    }
    if (!request.group.empty()) {
        const Answer<std::uint32_t> group = users.gid_of(request.group);
        if (!group) return std::unexpected{group.error()};
        gid = *group;
    }
    const ActingAs acting{actor.user};
    const Answer<Fd> file = open_path(*path, O_PATH);
    if (!file) return std::unexpected{file.error()};
    // Through the descriptor, so that both changes are of the same file.
    const std::string target = path_of_fd(file->get());
    const bool owner_changes = uid != UINT32_MAX || gid != UINT32_MAX;
    if (owner_changes && ::chown(target.c_str(), uid, gid) != 0)
        return std::unexpected{path_refusal(errno, *path)};
    if (request.mode && ::chmod(target.c_str(), *request.mode & 07777) != 0) {
        return std::unexpected{path_refusal(errno, *path)};
    }
    return describe_path(*path, users);
}

Answer<wire::DiskUse> disk_use() {
    struct statvfs root{};
    if (::statvfs("/", &root) != 0) return refused_errno(errno, "look at the disk");
    return wire::DiskUse{.total = root.f_blocks * root.f_frsize,
                         .used = (root.f_blocks - root.f_bfree) * root.f_frsize,
                         .inodes_total = root.f_files,
                         .inodes_used = root.f_files - root.f_ffree};
}

}  // namespace oyat::agent
