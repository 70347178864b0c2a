#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace oyat::microvm {

// Where a stream comes from: fills up to `size` bytes and returns how many, 0 at the end.
using StreamSource = std::function<std::size_t(char* into, std::size_t size)>;

struct StreamSinks {
    std::function<void(std::string_view bytes)> state;                     // what is left of the stream
    std::function<void(std::uint64_t at, std::string_view content)> page;  // of the guest's memory
};

// Takes the guest's memory out of a stream that QEMU has saved a stopped machine to, so that both can be
// loaded apart: the memory as a file that any number of machines map privately, the rest as a stream of some
// 70 KB. QEMU itself leaves memory out only where it is shared, and then a machine changes the file that
// others have been started from. Pages that are zero are not told of.
//
// The stream is QEMU's and therefore hostile: what it does not know, or a page beyond `memory_bytes`, throws
// `failed_precondition`. `block` is the name of the memory in QEMU.
void split_memory(const StreamSource& source, std::string_view block, std::uint64_t memory_bytes,
                  const StreamSinks& sinks);

}  // namespace oyat::microvm
