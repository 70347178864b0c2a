// What a server of HTTP/2 says to a request that is passed on: frames, heads, bodies and trailers.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "base/error.hpp"
#include "http/grammar.hpp"
#include "http/http2_client_session.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace oyat::http;
    if (size < 2) return 0;
    Http2ClientSession session{
        {{":method", "POST"}, {":scheme", "https"}, {":authority", "a.test"}, {":path", "/"}},
        [](std::span<char>) { return BodyPiece{.state = BodyPiece::State::last}; }};
    std::string out;
    session.send_into(out, 64 * 1024);
    std::string_view rest{reinterpret_cast<const char*>(data) + 2, size - 2};
    // Its SETTINGS come first; an input without them would end there.
    bool listens = data[0] % 2 == 0 || session.receive({"\0\0\0\4\0\0\0\0\0", 9});
    const std::size_t step = data[1] + std::size_t{1};
    while (listens && !rest.empty()) {
        listens = session.receive(rest.substr(0, step));
        rest.remove_prefix(std::min(step, rest.size()));
        OYAT_ASSERT(session.take_body().size() <= 512 * 1024);
        out.clear();
        try {
            session.send_into(out, 64 * 1024);
        } catch (const oyat::Error&) {
            return 0;
        }
    }
    if (session.head()) {
        OYAT_ASSERT(session.head()->status >= 200);
        for (const auto& [name, value] : session.head()->fields)
            OYAT_ASSERT(is_token(name) && is_field_value(value));
    }
    for (const auto& [name, value] : session.trailers()) OYAT_ASSERT(is_token(name) && is_field_value(value));
    return 0;
}
