#include "agent/status.hpp"

#include <cstring>

namespace oyat::agent {

Status refusal(Errc code, std::string message, int err) {
    return Status{.code = static_cast<std::uint32_t>(code) + 1,
                  .message = std::move(message),
                  .err = static_cast<std::uint32_t>(err)};
}

Status errno_refusal(int err, std::string_view what) {
    std::string message{what};
    if (err == ENOSPC || err == EDQUOT) {
        message += ": disk limit reached";
    } else {
        // strerror(3) would bring the message catalogues of libc along.
        const char* text = ::strerrordesc_np(err);
        message += ": ";
        message += text != nullptr ? text : "unknown error";
    }
    return refusal(errc_of(err), std::move(message), err);
}

std::string quoted(std::string_view text) {
    constexpr std::size_t kMost = 300;
    std::string out = "'";
    out += text.substr(0, kMost);
    out += text.size() > kMost ? "...'" : "'";
    return out;
}

}  // namespace oyat::agent
