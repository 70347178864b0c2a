#include "policy/paths.hpp"

#include <algorithm>

namespace oyat::policy {
namespace {

int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool is_unreserved(unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

// Well-formed UTF-8 (RFC 3629): no overlong forms, no surrogates.
bool is_utf8(std::string_view bytes) {
    for (std::size_t i = 0; i < bytes.size();) {
        const auto lead = static_cast<unsigned char>(bytes[i]);
        if (lead < 0x80) {
            ++i;
            continue;
        }
        const std::size_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
        if (lead < 0xC2 || lead > 0xF4 || i + more >= bytes.size()) return false;
        for (std::size_t k = 1; k <= more; ++k) {
            if ((static_cast<unsigned char>(bytes[i + k]) & 0xC0) != 0x80) return false;
        }
        const auto second = static_cast<unsigned char>(bytes[i + 1]);
        if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
            (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) {
            return false;
        }
        i += more + 1;
    }
    return true;
}

// The path with unreserved characters decoded and all other encodings in upper case; nothing when it is
// ambiguous.
std::optional<std::string> decode_unreserved(std::string_view path) {
    std::string decoded, octets;
    for (std::size_t i = 0; i < path.size(); ++i) {
        const auto c = static_cast<unsigned char>(path[i]);
        if (c <= 0x20 || c == 0x7F || c == '\\' || c == '#') return std::nullopt;
        if (c != '%') {
            decoded += path[i];
            octets += path[i];
            continue;
        }
        if (i + 2 >= path.size()) return std::nullopt;
        const int high = hex_value(path[i + 1]), low = hex_value(path[i + 2]);
        if (high < 0 || low < 0) return std::nullopt;
        const auto byte = static_cast<unsigned char>(high * 16 + low);
        // A slash, backslash, dot, percent sign or control byte that only a second reader would see.
        if (byte == '/' || byte == '\\' || byte == '.' || byte == '%' || byte < 0x20 || byte == 0x7F)
            return std::nullopt;
        octets += static_cast<char>(byte);
        if (is_unreserved(byte)) {
            decoded += static_cast<char>(byte);
        } else {
            constexpr std::string_view kHex = "0123456789ABCDEF";
            decoded += {'%', kHex[byte >> 4], kHex[byte & 15]};
        }
        i += 2;
    }
    if (!is_utf8(octets)) return std::nullopt;
    return decoded;
}

// RFC 3986, 5.2.4. Nothing when a segment is empty or leads above the root.
std::optional<std::string> without_dot_segments(std::string_view path) {
    std::vector<std::string_view> segments;
    path.remove_prefix(1);
    for (bool more = true; more;) {
        const std::size_t slash = path.find('/');
        const std::string_view segment = path.substr(0, slash);
        more = slash != std::string_view::npos;
        if (more) path.remove_prefix(slash + 1);
        if (segment.empty() && more) return std::nullopt;
        // "..;x" is ".." to servers that take what follows a semicolon for a parameter.
        if (segment.starts_with(".;") || segment.starts_with("..;")) return std::nullopt;
        if (segment == "..") {
            if (segments.empty()) return std::nullopt;
            segments.pop_back();
        }
        const bool dots = segment == "." || segment == "..";
        if (!dots || !more) segments.push_back(dots ? std::string_view{} : segment);
    }
    std::string joined;
    for (const std::string_view segment : segments) (joined += '/') += segment;
    return joined;
}

}  // namespace

std::optional<CanonicalTarget> CanonicalTarget::of(std::string_view target) {
    if (!target.starts_with('/')) return std::nullopt;
    const std::size_t mark = target.find('?');
    const std::optional<std::string> decoded = decode_unreserved(target.substr(0, mark));
    if (!decoded) return std::nullopt;
    std::optional<std::string> path = without_dot_segments(*decoded);
    if (!path) return std::nullopt;
    std::string query{mark == std::string_view::npos ? std::string_view{} : target.substr(mark + 1)};
    if (std::ranges::any_of(query, [](unsigned char c) { return c <= 0x20 || c == 0x7F; }))
        return std::nullopt;
    return CanonicalTarget{*std::move(path), std::move(query)};
}

Result<Glob> Glob::parse(std::string_view pattern) {
    if (pattern.size() > kMaxPattern)
        return refuse(Errc::invalid_argument, "a pattern has at most 255 bytes");
    Glob glob;
    glob.text_ = pattern;
    glob.words_ = pattern.size() / 64 + 1;
    glob.rows_.resize((Row::literals + 1) * glob.words_);
    const auto set = [&](std::size_t row, std::size_t place) {
        glob.rows_[row * glob.words_ + place / 64] |= std::uint64_t{1} << place % 64;
    };
    std::size_t place = 0;
    for (std::size_t i = 0; i < pattern.size(); ++i, ++place) {
        if (pattern[i] == '*') {
            set(Row::stars, place);
            std::size_t last = i;
            while (last + 1 < pattern.size() && pattern[last + 1] == '*') ++last;
            if (last > i) set(Row::wide_stars, place);
            i = last;
            continue;
        }
        std::uint8_t& which = glob.literal_[static_cast<unsigned char>(pattern[i])];
        if (which == 0) {
            which = static_cast<std::uint8_t>(glob.rows_.size() / glob.words_ - Row::literals);
            glob.rows_.resize(glob.rows_.size() + glob.words_);
        }
        set(Row::literals + which, place);
    }
    glob.end_ = place;
    return glob;
}

template <std::size_t kWords>
bool Glob::matches_in(std::string_view text) const {
    const std::uint64_t* const star = rows_.data() + Row::stars * kWords;
    std::array<std::uint64_t, kWords> places{1};
    // A wildcard may stand for nothing. Two never follow each other, so one step is enough.
    const auto skip_stars = [&] {
        std::uint64_t carry = 0;
        for (std::size_t word = 0; word < kWords; ++word) {
            const std::uint64_t before = places[word] & star[word];
            places[word] |= before << 1 | carry;
            carry = before >> 63;
        }
    };
    skip_stars();
    for (const char c : text) {
        const std::uint64_t* const staying =
            rows_.data() + (c == '/' ? Row::wide_stars : Row::stars) * kWords;
        const std::uint64_t* const taking =
            rows_.data() + (Row::literals + literal_[static_cast<unsigned char>(c)]) * kWords;
        std::uint64_t carry = 0, any = 0;
        for (std::size_t word = 0; word < kWords; ++word) {
            const std::uint64_t taken = places[word] & taking[word];
            places[word] = (places[word] & staying[word]) | taken << 1 | carry;
            carry = taken >> 63;
            any |= places[word];
        }
        if (any == 0) return false;
        skip_stars();
    }
    return (places[end_ / 64] >> end_ % 64 & 1) != 0;
}

bool Glob::matches(std::string_view text) const {
    if (text.size() > kMaxText) return false;
    static_assert(kMaxWords == 4);
    switch (words_) {
        case 1: return matches_in<1>(text);
        case 2: return matches_in<2>(text);
        case 3: return matches_in<3>(text);
        default: return matches_in<4>(text);
    }
}

Result<PathPattern> PathPattern::parse(std::string_view text) {
    if (!text.starts_with('/')) {
        return refuse(Errc::invalid_argument, "'" + std::string{text} + "' is not a path: it starts with /");
    }
    const std::size_t mark = text.find('?');
    Result<Glob> path = Glob::parse(text.substr(0, mark));
    if (!path) return std::unexpected{path.error()};
    PathPattern pattern{*std::move(path)};
    if (mark != std::string_view::npos) {
        Result<Glob> query = Glob::parse(text.substr(mark + 1));
        if (!query) return std::unexpected{query.error()};
        pattern.query_ = *std::move(query);
    }
    return pattern;
}

bool PathPattern::matches(const CanonicalTarget& target) const {
    return path_.matches(target.path) && (!query_ || query_->matches(target.query));
}

std::string PathPattern::text() const {
    return query_ ? path_.text() + "?" + query_->text() : path_.text();
}

}  // namespace oyat::policy
