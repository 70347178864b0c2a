#include "http/whole_body.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace oyat::http {
namespace {

constexpr std::size_t kPiece = 16 * 1024;

}  // namespace

Task<std::string> whole_body(Exchange& exchange, std::size_t limit) {
    const auto announced = exchange.request().content_length;
    const Error too_long{Errc::invalid_argument,
                         "the request's body is longer than " + std::to_string(limit) + " bytes"};
    if (announced.value_or(0) > limit) throw too_long;
    std::string body;
    for (;;) {
        const std::size_t size = body.size();
        // One more than allowed, to notice what is too much.
        const std::size_t more =
            std::min<std::size_t>(limit + 1 - size, std::max<std::size_t>(announced.value_or(kPiece), 1));
        body.resize(size + std::max<std::size_t>(more, 1));
        const std::size_t got = co_await exchange.read_body(std::span{body}.subspan(size));
        body.resize(size + got);
        if (got == 0) co_return body;
        if (body.size() > limit) throw too_long;
    }
}

}  // namespace oyat::http
