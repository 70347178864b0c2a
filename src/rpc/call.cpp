#include "rpc/call.hpp"

#include <charconv>
#include <string>
#include <string_view>

namespace oyat::rpc {
namespace {

// The protocol allows ten digits; so does every other number here.
Result<std::optional<std::int64_t>> read_number(const http::Fields& fields, std::string_view name) {
    const std::string_view text = fields.get(name);
    if (text.empty()) return std::nullopt;
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number < 0 || text.size() > 10) {
        return refuse(Errc::invalid_argument,
                      "header " + std::string{name} + " is not a number of at most ten digits");
    }
    return number;
}

}  // namespace

Result<CallOptions> read_call_options(const http::Fields& fields) {
    CallOptions options;
    const auto timeout = read_number(fields, "Connect-Timeout-Ms");
    if (!timeout) return std::unexpected{timeout.error()};
    if (timeout->value_or(0) > 0) options.timeout = Millis{**timeout};

    const auto keepalive = read_number(fields, "Keepalive-Ping-Interval");
    if (!keepalive) return std::unexpected{keepalive.error()};
    if (keepalive->value_or(0) > 0) options.keepalive = std::chrono::seconds{**keepalive};
    return options;
}

}  // namespace oyat::rpc
