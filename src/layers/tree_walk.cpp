#include "layers/tree_walk.hpp"

#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "base/throwing.hpp"
#include "layers/archive_rules.hpp"
#include "layers/directory.hpp"

namespace oyat::layers {
namespace {

void walk_below(int dir, const std::string& path, const std::function<void(const TreeEntry&)>& visit) {
    for (const std::string& name : names_in(dir)) {
        struct stat facts{};
        sys(::fstatat(dir, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW), "stat in tree");
        const std::string below = path == "." ? name : path + "/" + name;
        visit({.path = below, .dir = dir, .name = name.c_str(), .facts = facts});
        if (S_ISDIR(facts.st_mode)) {
            const Fd inner = open_directory(dir, name);
            walk_below(inner.get(), below, visit);
        }
    }
}

}  // namespace

void walk_tree(int root, const std::function<void(const TreeEntry&)>& visit) {
    struct stat facts{};
    sys(::fstatat(root, ".", &facts, 0), "stat tree");
    visit({.path = ".", .dir = root, .name = ".", .facts = facts});
    walk_below(root, ".", visit);
}

Fd open_entry(const TreeEntry& entry) {
    return Fd{sys(::openat(entry.dir, entry.name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), "open file in tree")};
}

std::map<std::string, std::string> content_xattrs(int file) {
    std::map<std::string, std::string> found;
    std::array<char, 65536> names;
    const ssize_t size = ::flistxattr(file, names.data(), names.size());
    if (size < 0) {
        if (errno == ENOTSUP) return found;
        throw errno_error(errno, "list attributes");
    }
    for (std::string_view rest{names.data(), static_cast<std::size_t>(size)}; !rest.empty();) {
        const std::string name{rest.substr(0, rest.find('\0'))};
        rest.remove_prefix(name.size() + 1);
        if (fate_of_xattr(name) != XattrFate::keep) continue;
        std::array<char, 65536> value;
        const ssize_t got =
            sys(::fgetxattr(file, name.c_str(), value.data(), value.size()), "read attribute");
        found.emplace(name, std::string{value.data(), static_cast<std::size_t>(got)});
    }
    return found;
}

std::string link_target(const TreeEntry& entry) {
    std::array<char, 4096> target;
    const ssize_t size = sys(::readlinkat(entry.dir, entry.name, target.data(), target.size()), "read link");
    return {target.data(), static_cast<std::size_t>(size)};
}

}  // namespace oyat::layers
