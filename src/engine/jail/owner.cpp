#include "engine/jail/owner.hpp"

#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.hpp"
#include "base/throwing.hpp"

namespace oyat::jail {
namespace {

constexpr uid_t kUnchanged = static_cast<uid_t>(-1);

// By number: of this thread only.
long set_effective(uid_t uid) {
    return ::syscall(SYS_setresuid, kUnchanged, uid, kUnchanged);
}

}  // namespace

Owner::Owner(uid_t uid) : bits_{::prctl(PR_GET_SECUREBITS)}, dumpable_{::prctl(PR_GET_DUMPABLE)} {
    sys(::prctl(PR_SET_SECUREBITS, bits_ | SECBIT_NO_SETUID_FIXUP), "keep the capabilities");
    sys(set_effective(uid), "act as the sandbox's user");
    // The change has cleared it, and with it a child's /proc files would be root's. Nobody else has this
    // user.
    ::prctl(PR_SET_DUMPABLE, 1);
}

// Going back can't be allowed to fail: the keeper would go on as somebody else.
Owner::~Owner() {
    OYAT_ASSERT(set_effective(0) == 0);
    OYAT_ASSERT(::prctl(PR_SET_SECUREBITS, bits_) == 0);
    // 2, "readable by root only", can be had but not set.
    ::prctl(PR_SET_DUMPABLE, dumpable_ == 1 ? 1 : 0);
}

}  // namespace oyat::jail
