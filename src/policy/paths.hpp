#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace oyat::policy {

// What of a request's target rules are compared with.
struct CanonicalTarget {
    std::string path;   // unreserved characters decoded (RFC 3986, 6.2.2.2), dot segments removed
    std::string query;  // as sent, without '?'

    // Nothing for a target that two servers could understand differently: an encoded slash, backslash, dot or
    // NUL in the path, an empty segment, a raw backslash or control byte, broken percent-encoding, encoded
    // bytes that are no UTF-8. No rule with a path may allow such a request (threats E-12).
    [[nodiscard]] static std::optional<CanonicalTarget> of(std::string_view target);
};

// A text with wildcards: "*" stands for anything but a slash, "**" for anything. Matching takes time linear
// in the text, whatever the pattern (threats X-13).
class Glob {
public:
    static constexpr std::size_t kMaxPattern = 255;
    static constexpr std::size_t kMaxText = 16 * 1024;

    [[nodiscard]] static Result<Glob> parse(std::string_view pattern);

    [[nodiscard]] bool matches(std::string_view text) const;
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    // A set of places in the pattern, as bits: bit i says that its first i elements are matched. In as few
    // words as the pattern needs, since a hostile tenant's thousand patterns are tried on one loop.
    static constexpr std::size_t kMaxWords = (kMaxPattern + 1 + 63) / 64;
    // Before a wildcard, before a wide one; from `literals` on before each byte that occurs, the first of
    // these for all others.
    enum Row : std::size_t { stars, wide_stars, literals };

    template <std::size_t kWords>
    [[nodiscard]] bool matches_in(std::string_view text) const;

    std::string text_;
    std::size_t end_ = 0;
    std::size_t words_ = 1;
    std::array<std::uint8_t, 256> literal_{};  // of each byte, its row after `literals`
    std::vector<std::uint64_t> rows_;          // sets of places, `words_` for each
};

// "/v2/orders/**", "/**/info/refs?service=git-upload-pack". The query counts only when the pattern has a '?'.
class PathPattern {
public:
    [[nodiscard]] static Result<PathPattern> parse(std::string_view text);

    [[nodiscard]] bool matches(const CanonicalTarget& target) const;
    [[nodiscard]] std::string text() const;

private:
    explicit PathPattern(Glob path) : path_{std::move(path)} {}

    Glob path_;
    std::optional<Glob> query_;
};

}  // namespace oyat::policy
