#include "api/e2b/unknown_user.hpp"

namespace oyat::e2b {

Task<bool> is_unknown_user(AgentCall& call, const Error& failure) {
    if (failure.code() != Errc::failed_precondition || call.user.empty()) co_return false;
    try {
        (void)co_await call.sandbox->files().resolve_user(call.user);
        co_return false;
    } catch (const Error& error) {
        co_return error.code() == Errc::not_found || error.code() == Errc::failed_precondition;
    }
}

}  // namespace oyat::e2b
