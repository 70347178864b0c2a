#include "agent/acting_as.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.hpp"

namespace oyat::agent {
namespace {

// These calls tell the old id and nothing about success; asking for an impossible one tells what holds.
constexpr long kAsk = -1;

void set_ids(std::uint32_t uid, std::uint32_t gid) {
    ::syscall(SYS_setfsgid, gid);
    ::syscall(SYS_setfsuid, uid);
}

}  // namespace

// The system calls are made directly: libc's setgroups would do it for threads that we do not have.
ActingAs::ActingAs(const User& user) {
    if (::geteuid() != 0) return;  // tried outside of a sandbox by somebody who is not root
    changed_ = true;
    OYAT_ASSERT(::syscall(SYS_setgroups, user.groups.size(), user.groups.data()) == 0);
    set_ids(user.account.uid, user.account.gid);
    OYAT_ASSERT(::syscall(SYS_setfsuid, kAsk) == static_cast<long>(user.account.uid));
    OYAT_ASSERT(::syscall(SYS_setfsgid, kAsk) == static_cast<long>(user.account.gid));
}

ActingAs::~ActingAs() {
    if (!changed_) return;
    set_ids(0, 0);
    ::syscall(SYS_setgroups, 0, nullptr);
}

}  // namespace oyat::agent
