#include "http/url.hpp"

#include <algorithm>
#include <cstddef>

namespace oyat::http {
namespace {

constexpr std::size_t kMaxPairs = 1024;

int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool is_unreserved(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

// `plus` is what a '+' stands for.
Result<std::string> decode(std::string_view text, char plus) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out.push_back(text[i] == '+' ? plus : text[i]);
            continue;
        }
        if (text.size() - i < 3) return refuse(Errc::invalid_argument, "incomplete percent escape");
        const int high = hex_value(text[i + 1]);
        const int low = hex_value(text[i + 2]);
        if (high < 0 || low < 0) return refuse(Errc::invalid_argument, "invalid percent escape");
        out.push_back(static_cast<char>(high * 16 + low));
        i += 2;
    }
    return out;
}

}  // namespace

Result<std::string> percent_decode(std::string_view text) {
    return decode(text, '+');
}

std::string percent_encode(std::string_view text) {
    constexpr std::string_view kHex = "0123456789ABCDEF";
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        if (is_unreserved(c)) {
            out.push_back(c);
        } else {
            const auto byte = static_cast<unsigned char>(c);
            out.push_back('%');
            out.push_back(kHex[byte >> 4]);
            out.push_back(kHex[byte & 15]);
        }
    }
    return out;
}

Result<Query> Query::parse(std::string_view text) {
    Query query;
    while (!text.empty()) {
        const auto end = std::min(text.find('&'), text.size());
        const std::string_view pair = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (pair.empty()) continue;
        if (query.pairs_.size() == kMaxPairs)
            return refuse(Errc::invalid_argument, "too many query parameters");
        const auto equals = std::min(pair.find('='), pair.size());
        Result<std::string> name = decode(pair.substr(0, equals), ' ');
        if (!name) return std::unexpected{std::move(name).error()};
        Result<std::string> value = decode(pair.substr(std::min(equals + 1, pair.size())), ' ');
        if (!value) return std::unexpected{std::move(value).error()};
        query.pairs_.emplace_back(*std::move(name), *std::move(value));
    }
    return query;
}

std::optional<std::string> Query::get(std::string_view name) const {
    const auto found =
        std::ranges::find(pairs_, name, [](const auto& pair) { return std::string_view{pair.first}; });
    if (found == pairs_.end()) return std::nullopt;
    return found->second;
}

}  // namespace oyat::http
