#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/assert.hpp"
#include "base/error.hpp"
#include "engine/microvm/memory_stream.hpp"

// What a QEMU that its guest has taken over may send for a saved machine: no page may land outside of the
// memory.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::uint64_t kMemory = 1 << 20;
    std::size_t at = 0;
    try {
        oyat::microvm::split_memory(
            [&](char* into, std::size_t most) {
                const std::size_t count = std::min(most, size - at);
                std::memcpy(into, data + at, count);
                at += count;
                return count;
            },
            "ram", kMemory,
            {.state = [](std::string_view) {},
             .page = [](std::uint64_t place,
                        std::string_view bytes) { OYAT_ASSERT(place + bytes.size() <= kMemory); }});
    } catch (const oyat::Error&) {
        return 0;
    }
    return 0;
}
