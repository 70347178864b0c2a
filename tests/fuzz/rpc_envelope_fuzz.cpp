// Bodies of streamed calls, in pieces whose size the input chooses.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.hpp"
#include "rpc/envelope.hpp"
#include "rpc/message.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    std::string_view rest{reinterpret_cast<const char*>(data) + 1, size - 1};
    const std::size_t step = data[0] % 32 + 1;
    constexpr std::size_t kMost = 4096;
    oyat::rpc::EnvelopeReader reader{kMost};
    while (!rest.empty()) {
        reader.feed(rest.substr(0, step));
        rest.remove_prefix(std::min(step, rest.size()));
        while (true) {
            const auto envelope = reader.next();
            if (!envelope) return 0;
            if (!*envelope) break;
            OYAT_ASSERT((*envelope)->payload.size() <= kMost);
            (void)oyat::rpc::parse_object((*envelope)->payload);
        }
    }
    return 0;
}
