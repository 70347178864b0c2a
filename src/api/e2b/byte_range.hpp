#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace oyat::e2b {

// A part of a file: what a Range field asks for, fitted to the file's size.
struct ByteRange {
    std::uint64_t first = 0;
    std::uint64_t length = 0;
};

enum class RangeKind { whole, part, unsatisfiable };

struct RangeAnswer {
    RangeKind kind = RangeKind::whole;
    ByteRange range;
};

// "bytes=0-99", "bytes=100-", "bytes=-20" (RFC 9110, 14.1.2). Several ranges, other units and what can't be
// read are answered with the whole file, as the RFC allows.
[[nodiscard]] RangeAnswer range_for(std::string_view field, std::uint64_t size);

}  // namespace oyat::e2b
