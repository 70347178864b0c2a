#include "daemon/privileges.hpp"

#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/throwing.hpp"

namespace oyat::daemon {
namespace {

void drop_bounding_set() {
    for (unsigned long capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability) {
        sys(::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0), "drop a capability from the bounding set");
    }
}

void drop_capabilities() {
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    const __user_cap_data_struct none[2]{};
    sys(::syscall(SYS_capset, &header, none), "drop all capabilities");
    sys(::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0), "clear the ambient capabilities");
}

}  // namespace

User find_user(const std::string& name) {
    User user{.uid = ::geteuid(), .gid = ::getegid()};
    if (const passwd* found = name.empty() ? nullptr : ::getpwnam(name.c_str())) {
        user = {.uid = found->pw_uid, .gid = found->pw_gid};
    } else if (!name.empty()) {
        const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), user.uid);
        if (failed != std::errc{} || end != name.data() + name.size()) {
            throw Error{Errc::not_found, Fault::oyat_operator, "no user is called '" + name + "'"};
        }
        user.gid = user.uid;
    }
    if (user.uid == 0 || user.gid == 0) {
        throw Error{Errc::invalid_argument, Fault::oyat_operator,
                    "oyatd does not run as root: name a user with --user"};
    }
    return user;
}

void give_up_privileges(const User& user) {
    if (::geteuid() == 0) {
        drop_bounding_set();
        sys(::setgroups(0, nullptr), "leave all groups");
        sys(::setresgid(user.gid, user.gid, user.gid), "change group");
        sys(::setresuid(user.uid, user.uid, user.uid), "change user");
    } else if (::geteuid() != user.uid) {
        throw Error{Errc::denied, Fault::oyat_operator, "only root can become another user"};
    }
    drop_capabilities();
    sys(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "forbid new privileges");
    sys(::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "become non-dumpable");
    const rlimit no_core{.rlim_cur = 0, .rlim_max = 0};
    sys(::setrlimit(RLIMIT_CORE, &no_core), "forbid core dumps");
}

void raise_descriptor_limit() {
    constexpr rlim_t kWanted = 1u << 20;  // the usual ceiling of the kernel, fs.nr_open
    rlimit limit{};
    sys(::getrlimit(RLIMIT_NOFILE, &limit), "read the limit of descriptors");
    const rlimit wished{.rlim_cur = kWanted, .rlim_max = std::max(limit.rlim_max, kWanted)};
    if (::setrlimit(RLIMIT_NOFILE, &wished) == 0) return;
    limit.rlim_cur = limit.rlim_max;  // not root: what our starter allows
    sys(::setrlimit(RLIMIT_NOFILE, &limit), "raise the limit of descriptors");
}

void raise_locked_memory_limit() {
    constexpr rlim_t kWanted = 64u << 20;
    rlimit limit{};
    sys(::getrlimit(RLIMIT_MEMLOCK, &limit), "read the limit of locked memory");
    const rlimit wished{.rlim_cur = std::max(limit.rlim_cur, kWanted),
                        .rlim_max = std::max(limit.rlim_max, kWanted)};
    if (::setrlimit(RLIMIT_MEMLOCK, &wished) == 0) return;
    limit.rlim_cur = limit.rlim_max;
    sys(::setrlimit(RLIMIT_MEMLOCK, &limit), "raise the limit of locked memory");
}

}  // namespace oyat::daemon
