#include "agent/acting_as.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <vector>

#include "base/assert.hpp"

namespace oyat::agent {
namespace {

// These calls tell the old id and nothing about success; asking for an impossible one tells what holds.
constexpr long kAsk = -1;

void set_ids(std::uint32_t uid, std::uint32_t gid) {
    ::syscall(SYS_setfsgid, gid);
    ::syscall(SYS_setfsuid, uid);
}

// The system calls are made directly: libc's setgroups would do it for threads that we do not have.
bool become(const User& user) {
    if (::syscall(SYS_setgroups, user.groups.size(), user.groups.data()) != 0) return false;
    set_ids(user.account.uid, user.account.gid);
    return ::syscall(SYS_setfsuid, kAsk) == static_cast<long>(user.account.uid) &&
           ::syscall(SYS_setfsgid, kAsk) == static_cast<long>(user.account.gid);
}

void become_root_again() {
    set_ids(0, 0);
    ::syscall(SYS_setgroups, 0, nullptr);
}

// Tried outside of a sandbox, the agent may be somebody else.
bool is_root() {
    return ::geteuid() == 0;
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
