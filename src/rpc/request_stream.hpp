#pragma once

#include <array>
#include <boost/json/object.hpp>
#include <optional>

#include "http/exchange.hpp"
#include "rpc/envelope.hpp"

namespace oyat::rpc {

// The messages that a client streams in, one by one. Nothing is read ahead of what was asked for, so a slow
// handler slows the client.
class RequestStream {
public:
    RequestStream(http::Exchange& exchange, std::size_t max_message)
        : exchange_{exchange}, reader_{max_message} {}

    // The next message, nothing after the last. Throws Error{invalid_argument} for what is none.
    Task<std::optional<boost::json::object>> next();

private:
    http::Exchange& exchange_;
    EnvelopeReader reader_;
    std::array<char, 16 * 1024> piece_{};
};

}  // namespace oyat::rpc
