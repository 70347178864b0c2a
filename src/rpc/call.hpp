#pragma once

#include <chrono>
#include <optional>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "http/fields.hpp"
#include "io/task.hpp"

namespace oyat::rpc {

// What the headers of a call ask for beside its message.
struct CallOptions {
    std::optional<Millis> timeout;                // Connect-Timeout-Ms; none when missing or 0
    Millis keepalive = std::chrono::seconds{90};  // Keepalive-Ping-Interval
};

[[nodiscard]] Result<CallOptions> read_call_options(const http::Fields& fields);

// What does the work behind a call, as far as serving the call must know of it. When it is gone, an open
// stream is cut without an end: the client must not take a broken stream for a finished one.
class Backend {
public:
    virtual ~Backend() = default;
    [[nodiscard]] virtual bool alive() const = 0;
    virtual Task<> until_gone() = 0;
};

enum class Served {
    answered,
    backend_gone  // nothing more was sent; the caller says what became of the backend, or cuts the connection
};

}  // namespace oyat::rpc
