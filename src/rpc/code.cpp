#include "rpc/code.hpp"

#include <array>

namespace oyat::rpc {
namespace {

struct Row {
    std::string_view name;
    int status;
};

// In the order of Code.
constexpr std::array<Row, 16> kRows{{{"canceled", 499},
                                     {"unknown", 500},
                                     {"invalid_argument", 400},
                                     {"deadline_exceeded", 504},
                                     {"not_found", 404},
                                     {"already_exists", 409},
                                     {"permission_denied", 403},
                                     {"resource_exhausted", 429},
                                     {"failed_precondition", 400},
                                     {"aborted", 409},
                                     {"out_of_range", 400},
                                     {"unimplemented", 501},
                                     {"internal", 500},
                                     {"unavailable", 503},
                                     {"data_loss", 500},
                                     {"unauthenticated", 401}}};

const Row& row(Code code) {
    return kRows[static_cast<std::size_t>(code)];
}

}  // namespace

std::string_view to_string(Code code) noexcept {
    return row(code).name;
}
int http_status(Code code) noexcept {
    return row(code).status;
}

Code code_of(Errc code) noexcept {
    switch (code) {
        case Errc::invalid_argument: return Code::invalid_argument;
        case Errc::not_found: return Code::not_found;
        case Errc::already_exists: return Code::already_exists;
        case Errc::failed_precondition: return Code::failed_precondition;
        case Errc::exhausted: return Code::resource_exhausted;
        case Errc::denied: return Code::permission_denied;
        case Errc::unavailable: return Code::unavailable;
        case Errc::deadline: return Code::deadline_exceeded;
        case Errc::canceled: return Code::canceled;
        case Errc::unimplemented: return Code::unimplemented;
        case Errc::internal: return Code::internal;
    }
    return Code::unknown;
}

Code code_of(const Error& error) noexcept {
    if (const auto* coded = dynamic_cast<const CodedError*>(&error)) return coded->rpc_code();
    return code_of(error.code());
}

}  // namespace oyat::rpc
