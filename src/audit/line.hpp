#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

struct evp_md_ctx_st;

// One line of a log: {"h":"<64 hex>","r":<record>}, where h = SHA-256(0x02 || h of the line before || bytes
// of the record exactly as written). No canonical JSON is needed: the bytes are the truth. The format is
// docs/internals/audit.md.
namespace oyat::audit {

using Digest = std::array<unsigned char, 32>;

// A line is one write(2). The longest record is that of a command with two kept outputs full of control
// characters, each of which takes six bytes in JSON.
inline constexpr std::size_t kLongestLine = 32u << 20;

[[nodiscard]] std::string to_hex(const Digest& digest);
[[nodiscard]] std::optional<Digest> digest_from_hex(std::string_view hex);

// SHA-256, kept between uses: making one anew costs more than hashing a usual line.
class Hasher {
public:
    Hasher();
    [[nodiscard]] Digest chained(const Digest& previous, std::string_view record);
    [[nodiscard]] Digest plain(std::string_view bytes);

private:
    struct Free {
        void operator()(evp_md_ctx_st* context) const noexcept;
    };
    std::unique_ptr<evp_md_ctx_st, Free> context_;
};

// With the newline at its end. `head` is already that of this line.
[[nodiscard]] std::string make_line(const Digest& head, std::string_view record);

struct Line {
    Digest head;
    std::string_view record;  // within the text that was parsed
};
// `text` without its newline. Says nothing about whether the digest is right.
[[nodiscard]] Result<Line> parse_line(std::string_view text);

}  // namespace oyat::audit
