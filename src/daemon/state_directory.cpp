#include "daemon/state_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.hpp"
#include "base/throwing.hpp"

namespace oyat::daemon {
namespace {

Fd open_directory(int parent, const char* path) {
    return Fd{sys(::openat(parent, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW),
                  "open " + std::string{path})};
}

Fd make_directory(int parent, const char* name, uid_t owner, gid_t group) {
    if (::mkdirat(parent, name, 0700) != 0 && errno != EEXIST)
        throw errno_error(errno, "make " + std::string{name});
    Fd directory = open_directory(parent, name);
    struct stat facts{};
    sys(::fstat(directory.get(), &facts), "look at it");
    if (facts.st_uid != owner)
        sys(::fchown(directory.get(), owner, group), "give " + std::string{name} + " to its user");
    sys(::fchmod(directory.get(), 0700), "set its mode");
    return directory;
}

// Scripts and tests make state directories that only root may enter.
void let_group_pass(int state, gid_t group) {
    struct stat facts{};
    sys(::fstat(state, &facts), "look at it");
    const bool passable =
        (facts.st_mode & S_IXOTH) != 0 || (facts.st_gid == group && (facts.st_mode & S_IXGRP) != 0);
    if (passable || ::geteuid() != 0) return;
    sys(::fchown(state, facts.st_uid, group), "give it to the group");
    sys(::fchmod(state, (facts.st_mode & 07777) | S_IXGRP), "let the group pass");
}

}  // namespace

StatePaths prepare_state_directory(const std::string& state, uid_t owner, gid_t group) {
    return in("state directory " + state, [&] {
        if (::mkdir(state.c_str(), 0755) != 0 && errno != EEXIST) throw errno_error(errno, "make");
        const std::filesystem::path root = std::filesystem::canonical(state);
        const Fd top{sys(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open")};
        let_group_pass(top.get(), group);
        const Fd own = make_directory(top.get(), "oyatd", owner, group);
        const Fd spool = make_directory(own.get(), "spool", owner, group);
        for (const auto& left : std::filesystem::directory_iterator{root / "oyatd" / "spool"}) {
            std::filesystem::remove(left.path());
        }
        return StatePaths{.own = root / "oyatd",
                          .database = root / "oyatd" / "oyat.db",
                          .spool = root / "oyatd" / "spool",
                          .audit = root / "audit",
                          .secrets_key = root / "oyatd" / "secrets.key"};
    });
}

}  // namespace oyat::daemon
