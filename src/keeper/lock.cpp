#include "keeper/lock.hpp"

#include <poll.h>
#include <sys/file.h>

#include "base/throwing.hpp"

namespace oyat::keeper {
namespace {

constexpr int kTries = 20;
constexpr int kWaitMs = 100;

}  // namespace

Fd hold_alone(Fd opened, const char* refusal) {
    for (int left = kTries; ::flock(opened.get(), LOCK_EX | LOCK_NB) != 0; --left) {
        if (left == 0) throw Error{Errc::failed_precondition, Fault::oyat_operator, refusal};
        ::poll(nullptr, 0, kWaitMs);
    }
    return opened;
}

}  // namespace oyat::keeper
