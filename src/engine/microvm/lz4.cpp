#include "engine/microvm/lz4.hpp"

#include <cstdint>
#include <optional>

namespace oyat::microvm {
namespace {

constexpr std::uint32_t kMagic = 0x184C2102;
constexpr std::size_t kMostOfABlock = std::size_t{8} << 20;  // unpacked, by the format
constexpr unsigned kLongLength = 15;                         // more bytes of the length follow
constexpr std::size_t kShortestMatch = 4;

class Reader {
public:
    explicit Reader(std::string_view bytes) : rest_{bytes} {}

    [[nodiscard]] bool done() const { return rest_.empty(); }
    std::optional<std::string_view> take(std::size_t count) {
        if (count > rest_.size()) return std::nullopt;
        const std::string_view taken = rest_.substr(0, count);
        rest_.remove_prefix(count);
        return taken;
    }
    // Little-endian.
    std::optional<std::uint32_t> number(std::size_t bytes) {
        const std::optional<std::string_view> taken = take(bytes);
        if (!taken) return std::nullopt;
        std::uint32_t value = 0;
        for (std::size_t at = bytes; at-- > 0;) {
            value = value << 8 | static_cast<unsigned char>((*taken)[at]);
        }
        return value;
    }
    // A length whose first four bits stood in the token.
    std::optional<std::size_t> length(unsigned first) {
        std::size_t value = first;
        if (first != kLongLength) return value;
        for (;;) {
            const std::optional<std::uint32_t> more = number(1);
            if (!more) return std::nullopt;
            value += *more;
            if (*more != 255) return value;
        }
    }

private:
    std::string_view rest_;
};

bool unpack_block(std::string_view packed, std::string& out, std::size_t most) {
    const std::size_t start = out.size();
    const std::size_t end = std::min(most, start + kMostOfABlock);
    Reader reader{packed};
    while (!reader.done()) {
        const std::uint32_t token = *reader.number(1);
        const std::optional<std::size_t> literals = reader.length(token >> 4);
        if (!literals || *literals > end - out.size()) return false;
        const std::optional<std::string_view> bytes = reader.take(*literals);
        if (!bytes) return false;
        out.append(*bytes);
        if (reader.done()) return true;  // the last sequence has no match
        const std::optional<std::uint32_t> back = reader.number(2);
        const std::optional<std::size_t> more = reader.length(token & 15);
        if (!back || !more || *back == 0 || *back > out.size() - start) return false;
        const std::size_t length = *more + kShortestMatch;
        if (length > end - out.size()) return false;
        // A match may reach into what it is about to write: byte for byte.
        for (std::size_t from = out.size() - *back, n = 0; n < length; ++n) out.push_back(out[from + n]);
    }
    return true;
}

}  // namespace

Result<std::string> unpack_lz4_legacy(std::string_view packed, std::size_t most) {
    Reader reader{packed};
    if (reader.number(4) != kMagic) return refuse(Errc::invalid_argument, "not LZ4's legacy format");
    std::string out;
    while (const std::optional<std::uint32_t> size = reader.number(4)) {
        if (*size == kMagic) continue;  // frames may follow each other
        const std::optional<std::string_view> block = reader.take(*size);
        // A kernel's payload ends with its unpacked length, which is no block.
        if (!block) break;
        if (!unpack_block(*block, out, most)) return refuse(Errc::invalid_argument, "damaged LZ4 data");
    }
    return out;
}

}  // namespace oyat::microvm
