#include "layers/template_meta.hpp"

#include <algorithm>
#include <charconv>

#include "base/json_escape.hpp"

namespace oyat::layers {
namespace {

// Reads the flat object that to_json() writes: string and whole-number values, no escapes in strings.
class FlatObject {
public:
    explicit FlatObject(std::string_view text) : rest_{text} {}

    template <class Visit>
    bool each_pair(Visit&& visit) {
        if (!take('{')) return false;
        if (take('}')) return at_end();
        do {
            const auto key = string();
            if (!key || !take(':')) return false;
            const auto value = string_or_number();
            if (!value) return false;
            visit(*key, *value);
        } while (take(','));
        return take('}') && at_end();
    }

private:
    using Piece = Result<std::string_view>;

    bool take(char wanted) {
        skip_space();
        if (rest_.empty() || rest_.front() != wanted) return false;
        rest_.remove_prefix(1);
        return true;
    }
    void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }
    bool at_end() {
        skip_space();
        return rest_.empty();
    }
    Piece cut(std::size_t size) {
        const std::string_view piece = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return piece;
    }
    Piece string() {
        if (!take('"')) return refuse(Errc::invalid_argument, "a string is expected");
        const std::size_t end = rest_.find_first_of("\"\\");
        if (end == std::string_view::npos || rest_[end] == '\\') {
            return refuse(Errc::invalid_argument, "a plain string is expected");
        }
        Piece piece = cut(end);
        rest_.remove_prefix(1);
        return piece;
    }
    Piece string_or_number() {
        skip_space();
        if (rest_.starts_with('"')) return string();
        const std::size_t end = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
        if (end == 0) return refuse(Errc::invalid_argument, "a number is expected");
        return cut(end);
    }

    std::string_view rest_;
};

template <class Number>
void read_number(std::string_view text, Number& into) {
    std::from_chars(text.data(), text.data() + text.size(), into);
}

}  // namespace

bool is_template_name(std::string_view text) noexcept {
    const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
    return !text.empty() && text.size() <= 40 && std::ranges::all_of(text, fits);
}

bool is_digest(std::string_view text) noexcept {
    constexpr std::string_view kScheme = "sha256:";
    if (!text.starts_with(kScheme)) return false;
    text.remove_prefix(kScheme.size());
    return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string to_json(const TemplateMeta& meta) {
    return "{\"digest\":" + json_string(meta.digest) + ",\"files\":" + std::to_string(meta.files) +
           ",\"bytes\":" + std::to_string(meta.bytes) + ",\"created\":" + std::to_string(meta.created_ms) +
           "}\n";
}

Result<TemplateMeta> parse_template_meta(std::string_view json) {
    TemplateMeta meta;
    const bool whole = FlatObject{json}.each_pair([&](std::string_view key, std::string_view value) {
        if (key == "digest") meta.digest = value;
        if (key == "files") read_number(value, meta.files);
        if (key == "bytes") read_number(value, meta.bytes);
        if (key == "created") read_number(value, meta.created_ms);
    });
    if (!whole || !is_digest(meta.digest))
        return refuse(Errc::invalid_argument, "not the description of a template");
    return meta;
}

}  // namespace oyat::layers
