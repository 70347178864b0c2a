#include "base/error.hpp"

#include <array>
#include <cerrno>
#include <cstring>

namespace oyat {

std::string_view to_string(Errc code) noexcept {
    switch (code) {
        case Errc::invalid_argument: return "invalid_argument";
        case Errc::not_found: return "not_found";
        case Errc::already_exists: return "already_exists";
        case Errc::failed_precondition: return "failed_precondition";
        case Errc::exhausted: return "exhausted";
        case Errc::denied: return "denied";
        case Errc::unavailable: return "unavailable";
        case Errc::deadline: return "deadline";
        case Errc::canceled: return "canceled";
        case Errc::unimplemented: return "unimplemented";
        case Errc::internal: return "internal";
    }
    return "internal";
}

std::string_view to_string(Fault fault) noexcept {
    switch (fault) {
        case Fault::client: return "client";
        case Fault::policy: return "policy";
        case Fault::command: return "command";
        case Fault::limit: return "limit";
        case Fault::agent: return "agent";
        case Fault::engine: return "engine";
        case Fault::image: return "image";
        case Fault::mirror: return "mirror";
        case Fault::network: return "network";
        case Fault::upstream: return "upstream";
        case Fault::oyat_operator: return "operator";
    }
    return "engine";
}

Fault default_fault(Errc code) noexcept {
    switch (code) {
        case Errc::invalid_argument:
        case Errc::not_found:
        case Errc::already_exists:
        case Errc::failed_precondition:
        case Errc::canceled: return Fault::client;
        case Errc::exhausted:
        case Errc::deadline: return Fault::limit;
        case Errc::denied: return Fault::policy;
        case Errc::unavailable: return Fault::agent;
        case Errc::unimplemented:
        case Errc::internal: return Fault::engine;
    }
    return Fault::engine;
}

Errc errc_of(int err) noexcept {
    switch (err) {
        case ENOENT:
        case ESRCH: return Errc::not_found;
        case EEXIST: return Errc::already_exists;
        case EACCES:
        case EPERM: return Errc::denied;
        case ENOSPC:
        case EDQUOT:
        case ENOMEM:
        case EMFILE:
        case ENFILE: return Errc::exhausted;
        case EINVAL:
        case ENAMETOOLONG:
        case ENOTDIR:
        case EISDIR:
        case ELOOP: return Errc::invalid_argument;
        case ECONNREFUSED:
        case ECONNRESET:
        case EPIPE:
        case EAGAIN: return Errc::unavailable;
        case ETIMEDOUT: return Errc::deadline;
        case ENOSYS:
        case EOPNOTSUPP: return Errc::unimplemented;
        default: return Errc::internal;
    }
}

Error errno_error(int err, std::string_view what) {
    std::array<char, 128> buffer{};
    const char* text = ::strerror_r(err, buffer.data(), buffer.size());  // the GNU form, thread-safe
    return Error{errc_of(err), std::string{what} + ": " + text};
}

}  // namespace oyat
