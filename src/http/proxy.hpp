#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "http/exchange.hpp"

namespace oyat::http {

struct ProxyOptions {
    std::string host;     // Host towards the upstream; "" = as the client sent it
    Fields extra_fields;  // added (X-Forwarded-For, ...), replacing what the client sent under these names
    std::vector<std::string> dropped_fields;  // not passed on
    std::string target;  // "" = as it came; else the new origin-form target (a path prefix was removed)
    std::function<void()> on_head;  // the upstream's answer has begun
};

// Passes one exchange to an upstream connection of its own and the answer back, streamed both ways,
// re-serialised from what was parsed so that nothing smuggled survives (threats C-05, C-06). After a 101 that
// was asked for, bytes are spliced both ways until either side ends. Returns normally when the client went
// away or the upstream's answer broke off: the exchange is then aborted. Throws Error{unavailable} when the
// upstream ends before its head came or does not speak HTTP/1.1; the exchange is then still unanswered.
Task<> proxy_exchange(Exchange& exchange, std::unique_ptr<Stream> upstream, ProxyOptions options);

}  // namespace oyat::http
