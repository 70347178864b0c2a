#include "agent/acting_as.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

#include "base/assert.hpp"

namespace oyat::agent {
namespace {

// These calls tell the old id and nothing about success; asking for an impossible one tells what holds.
constexpr long kAsk = -1;
constexpr long kKeep = -1;

// gVisor's kernel has no ids of the file system alone. There the effective ones are changed: on the way to a
// user that takes the capabilities with it, and gives them back on the way home.
bool has_file_ids() {
    static const bool has = ::syscall(SYS_setfsuid, kAsk) >= 0;
    return has;
}

// The system calls are made directly: libc's would do it for threads that we do not have.
bool become(const User& user) {
    const std::uint32_t uid = user.account.uid;
    const std::uint32_t gid = user.account.gid;
    if (::syscall(SYS_setgroups, user.groups.size(), user.groups.data()) != 0) return false;
    if (!has_file_ids()) {
        return ::syscall(SYS_setresgid, kKeep, gid, kKeep) == 0 &&
               ::syscall(SYS_setresuid, kKeep, uid, kKeep) == 0;
    }
    ::syscall(SYS_setfsgid, gid);
    ::syscall(SYS_setfsuid, uid);
    return ::syscall(SYS_setfsuid, kAsk) == static_cast<long>(uid) &&
           ::syscall(SYS_setfsgid, kAsk) == static_cast<long>(gid);
}

void become_root_again() {
    if (has_file_ids()) {
        ::syscall(SYS_setfsgid, 0);
        ::syscall(SYS_setfsuid, 0);
    } else {
        ::syscall(SYS_setresuid, kKeep, 0, kKeep);
        ::syscall(SYS_setresgid, kKeep, 0, kKeep);
    }
    ::syscall(SYS_setgroups, 0, nullptr);
}

// Tried outside of a sandbox, the agent may be somebody else.
bool is_root() {
    return ::getuid() == 0;
}

}  // namespace

bool can_act_as(User& user) {
    if (!is_root()) return true;
    bool can = become(user);
    if (!can) {
        std::erase_if(user.groups,
                      [](std::uint32_t group) { return ::syscall(SYS_setgroups, 1, &group) != 0; });
        can = become(user);
    }
    become_root_again();
    return can;
}

ActingAs::ActingAs(const User& user) {
    if (is_root()) OYAT_ASSERT(become(user));
}

ActingAs::~ActingAs() {
    if (is_root()) become_root_again();
}

}  // namespace oyat::agent
