#pragma once

#include <string>
#include <vector>

#include "http/exchange.hpp"

namespace oyat::http {

// One protocol's door. The daemon asks its fronts in order, and the first that handles a request gets it.
class Front {
public:
    virtual ~Front() = default;
    // Looks at the head only, and asks nobody.
    [[nodiscard]] virtual bool handles(const RequestHead& request) const = 0;
    // Answers the request. Errors are turned into the protocol's own shape here; what escapes becomes a plain
    // 500.
    virtual Task<> handle(Exchange& exchange) = 0;
    // Its routes as "METHOD /pattern": tests walk them, so that a new one without a rule fails (threats
    // C-01).
    [[nodiscard]] virtual std::vector<std::string> routes() const = 0;
};

}  // namespace oyat::http
