#include "http/error_status.hpp"

#include <string>

namespace oyat::http {

int status_of(Errc code) noexcept {
    switch (code) {
        case Errc::invalid_argument: return 400;
        case Errc::not_found: return 404;
        case Errc::already_exists: return 409;
        case Errc::failed_precondition: return 409;
        case Errc::exhausted: return 429;
        case Errc::denied: return 403;
        case Errc::unavailable: return 503;
        case Errc::deadline: return 504;
        case Errc::canceled: return 503;
        case Errc::unimplemented: return 501;
        case Errc::internal: return 500;
    }
    return 500;
}

void add_retry_after(Fields& fields, int status, std::chrono::seconds after) {
    constexpr int kTooManyRequests = 429;
    if (status == kTooManyRequests) fields.add("Retry-After", std::to_string(after.count()));
}

}  // namespace oyat::http
