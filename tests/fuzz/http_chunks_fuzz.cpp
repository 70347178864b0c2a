// A chunked body, in two arrivals: all at once and a few bytes at a time. Both must give the same bytes, and
// leave the same bytes for the next message.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "http/chunk_decoder.hpp"

namespace {

struct Decoded {
    std::string data;
    std::string rest;
    bool operator==(const Decoded&) const = default;
};

// Nothing when the body is refused or incomplete.
std::optional<Decoded> decode(std::string_view input, std::size_t step) {
    oyat::http::ChunkDecoder decoder;
    std::string data;
    std::string pending;
    for (;;) {
        const auto taken = decoder.take_framing(pending);
        if (!taken) return std::nullopt;
        OYAT_ASSERT(*taken <= pending.size());
        pending.erase(0, *taken);
        const auto now =
            static_cast<std::size_t>(std::min<std::uint64_t>(decoder.chunk_left(), pending.size()));
        data.append(pending, 0, now);
        pending.erase(0, now);
        decoder.data_taken(now);
        if (decoder.done()) return Decoded{.data = data, .rest = pending.append(input)};
        if (*taken + now > 0) continue;
        if (input.empty()) return std::nullopt;
        pending.append(input.substr(0, step));
        input.remove_prefix(std::min(step, input.size()));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    OYAT_ASSERT(decode(text, text.size()) == decode(text, 1 + size % 7));
    return 0;
}
