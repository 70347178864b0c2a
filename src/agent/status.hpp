#pragma once

#include <cerrno>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "wire/agent_messages.hpp"

// How the agent says no. It has no exceptions: whatever can fail returns an Answer, whose refusal is the very
// Status that the stream ends with.
namespace oyat::agent {

using wire::Status;

template <class T>
using Answer = std::expected<T, Status>;

[[nodiscard]] Status refusal(Errc code, std::string message, int err = 0);

// "what: No such file or directory", with the Errc that fits. A full disk and a full quota read the same:
// "disk limit reached".
[[nodiscard]] Status errno_refusal(int err, std::string_view what);

[[nodiscard]] inline std::unexpected<Status> refused(Errc code, std::string message, int err = 0) {
    return std::unexpected{refusal(code, std::move(message), err)};
}
[[nodiscard]] inline std::unexpected<Status> refused_errno(int err, std::string_view what) {
    return std::unexpected{errno_refusal(err, what)};
}

// A name or path of the sandbox as it stands in a message: 'text', cut when it is long.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace oyat::agent
