// The byte stream between host and agent, in two arrivals: all at once and a few bytes at a time. Both must
// give the same frames and stop at the same place, and a frame written again is the same bytes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "wire/frame.hpp"

namespace {

using namespace oyat;

struct Parsed {
    std::string frames;  // written again
    bool broken = false;
    bool operator==(const Parsed&) const = default;
};

Parsed parse(std::string_view bytes, std::size_t step) {
    wire::FrameParser parser;
    Parsed parsed;
    while (!bytes.empty()) {
        const std::size_t piece = std::min(step, bytes.size());
        parser.feed(bytes.substr(0, piece));
        bytes.remove_prefix(piece);
        while (true) {
            auto frame = parser.next();
            if (!frame) {
                parsed.broken = true;
                return parsed;
            }
            if (!*frame) break;
            const wire::FrameHeader& header = (*frame)->header;
            wire::append_frame(parsed.frames, header.kind, header.stream, header.channel, (*frame)->payload);
        }
    }
    return parsed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes{reinterpret_cast<const char*>(data), size};
    const Parsed whole = parse(bytes, std::max<std::size_t>(size, 1));
    OYAT_ASSERT(whole == parse(bytes, 1 + size % 13));
    OYAT_ASSERT(bytes.starts_with(whole.frames));
    return 0;
}
