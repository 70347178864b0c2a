#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace oyat {

// What a caller can act on. Each API front end maps these once to its own status numbers.
enum class Errc {
    invalid_argument,
    not_found,
    already_exists,
    failed_precondition,
    exhausted,    // a limit or quota was reached; `limit()` of the event names it
    denied,       // policy or permission
    unavailable,  // the part that could answer is not there right now
    deadline,     // a time limit ran out
    canceled,
    unimplemented,  // the engine or this release can't; the message names what can
    internal
};

// Whose fault a failure is. Every failure in API, CLI, record and log carries one.
enum class Fault {
    client,
    policy,
    command,
    limit,
    agent,
    engine,
    image,
    mirror,
    network,
    upstream,
    oyat_operator
};

[[nodiscard]] std::string_view to_string(Errc code) noexcept;
[[nodiscard]] std::string_view to_string(Fault fault) noexcept;

// The fault that an error has when nobody who knows more has said otherwise.
[[nodiscard]] Fault default_fault(Errc code) noexcept;

// The only exception type that oyat throws. `what()` reads from the outside in:
// "create sandbox i1: mount overlay: Permission denied".
class Error : public std::exception {
public:
    Error(Errc code, std::string message)
        : code_{code}, fault_{default_fault(code)}, message_{std::move(message)} {}
    Error(Errc code, Fault fault, std::string message)
        : code_{code}, fault_{fault}, message_{std::move(message)} {}

    [[nodiscard]] Errc code() const noexcept { return code_; }
    [[nodiscard]] Fault fault() const noexcept { return fault_; }
    [[nodiscard]] const std::string& message() const noexcept { return message_; }
    // "processes", "memory", "disk", ...: the limit of a sandbox that was reached, "" when none or not known.
    [[nodiscard]] std::string_view limit() const noexcept { return limit_; }
    // The id of the event that records it, "" when none does. Front ends show it to the client.
    [[nodiscard]] const std::string& event() const noexcept { return event_; }
    [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }

    Error&& in(std::string_view context) && {
        message_.insert(0, ": ").insert(0, context);
        return std::move(*this);
    }
    Error&& because(Fault fault) && {
        fault_ = fault;
        return std::move(*this);
    }
    Error&& of_limit(const char* limit) && {
        limit_ = limit;
        return std::move(*this);
    }
    Error&& recorded_as(std::string event) && {
        event_ = std::move(event);
        return std::move(*this);
    }

private:
    Errc code_;
    Fault fault_;
    std::string message_;
    const char* limit_ = "";
    std::string event_;
};

// The Errc that fits a failed system call.
[[nodiscard]] Errc errc_of(int err) noexcept;

// "what: strerror(err)", with the Errc that fits.
[[nodiscard]] Error errno_error(int err, std::string_view what);

}  // namespace oyat
