#include "masking/encodings.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "masking/value.hpp"

namespace oyat::masking {
namespace {

constexpr std::size_t kShortestLine = 16;  // of a value of several lines, to be looked for by itself

constexpr std::string_view kLower = "0123456789abcdef";
constexpr std::string_view kUpper = "0123456789ABCDEF";

unsigned char byte_of(char c) {
    return static_cast<unsigned char>(c);
}

void append_hex(std::string& out, char c, std::string_view digits) {
    out += digits[byte_of(c) >> 4];
    out += digits[byte_of(c) & 15];
}

std::string hex(std::string_view value, std::string_view digits) {
    std::string out;
    for (const char c : value) append_hex(out, c, digits);
    return out;
}

// The part of the base64 text (RFC 4648) that is the same whatever stands before and after the value, when
// `before` bytes of the group of three are taken already. A fourth of a byte at each end is in no such part.
std::string base64_inside(std::string_view value, std::size_t before, std::string_view letters) {
    std::string out;
    // Bits of the value that fill up a letter begun by what stands before.
    const std::size_t first = (6 - before * 8 % 6) % 6;
    const std::size_t bits = value.size() * 8;
    for (std::size_t bit = first; bit + 6 <= bits; bit += 6) {
        const std::size_t at = bit / 8;
        const unsigned pair = byte_of(value[at]) << 8 | (at + 1 < value.size() ? byte_of(value[at + 1]) : 0u);
        out += letters[pair >> (10 - bit % 8) & 63];
    }
    return out;
}

bool is_alnum(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// What a writer leaves as it is besides letters and digits, and how it writes a blank.
struct PercentStyle {
    std::string_view kept;
    std::string_view blank;
};

// RFC 3986, section 2.1.
std::string percent(std::string_view value, const PercentStyle& style, std::string_view digits) {
    std::string out;
    for (const char c : value) {
        if (is_alnum(c) || style.kept.find(c) != std::string_view::npos) {
            out += c;
        } else if (c == ' ') {
            out += style.blank;
        } else {
            out += '%';
            append_hex(out, c, digits);
        }
    }
    return out;
}

std::string percent_all(std::string_view value, std::string_view digits) {
    std::string out;
    for (const char c : value) {
        out += '%';
        append_hex(out, c, digits);
    }
    return out;
}

// As the text of a JSON string (RFC 8259, section 7). `more` are further characters that this writer escapes.
std::string json(std::string_view value, std::string_view more, std::string_view digits) {
    std::string out;
    for (const char c : value) {
        const std::size_t usual = std::string_view{"\"\\\b\f\n\r\t"}.find(c);
        if (usual != std::string_view::npos) {
            out += '\\';
            out += std::string_view{"\"\\bfnrt"}[usual];
        } else if (c == '/' && more.find('/') != std::string_view::npos) {
            out += "\\/";
        } else if (byte_of(c) < 0x20 || c == 0x7f || (c != '/' && more.find(c) != std::string_view::npos)) {
            out += "\\u00";
            append_hex(out, c, digits);
        } else {
            out += c;
        }
    }
    return out;
}

using Shapes = std::set<std::string>;

void add(Shapes& shapes, std::string shape) {
    if (shape.size() >= kShortestValue) shapes.insert(std::move(shape));
}

void add_encodings(Shapes& shapes, std::string_view value) {
    constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    constexpr std::string_view kBase64Url =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    // RFC 3986, JavaScript's encodeURIComponent, Python's quote, an HTML form.
    constexpr std::array<PercentStyle, 4> kPercent{
        {{"-._~", "%20"}, {"-._~!*'()", "%20"}, {"-._~/", "%20"}, {"-._*", "+"}}};
    // What JSON writers escape beyond the need: PHP the slash, Go and Rails what HTML gives a meaning.
    constexpr std::array<std::string_view, 4> kEscaped{"", "/", "<>&", "<>&'"};

    add(shapes, std::string{value});
    for (std::size_t before = 0; before < 3; ++before) {
        add(shapes, base64_inside(value, before, kBase64));
        add(shapes, base64_inside(value, before, kBase64Url));
    }
    for (const std::string_view digits : {kLower, kUpper}) {
        add(shapes, hex(value, digits));
        add(shapes, percent_all(value, digits));
        for (const PercentStyle& style : kPercent) add(shapes, percent(value, style, digits));
        for (const std::string_view escaped : kEscaped) add(shapes, json(value, escaped, digits));
    }
}

std::string_view without_final_newline(std::string_view value) {
    while (value.ends_with('\n') || value.ends_with('\r')) value.remove_suffix(1);
    return value;
}

void add_lines(Shapes& shapes, std::string_view value) {
    while (!value.empty()) {
        const std::size_t end = std::min(value.find('\n'), value.size());
        const std::string_view line = without_final_newline(value.substr(0, end));
        if (line.size() >= kShortestLine) add(shapes, std::string{line});
        value.remove_prefix(std::min(end + 1, value.size()));
    }
}

}  // namespace

std::vector<std::string> encodings_of(std::string_view value) {
    const std::string_view body = without_final_newline(value);
    if (body.size() < kShortestValue) return {};
    Shapes shapes;
    add_encodings(shapes, body);
    if (body.size() != value.size()) add_encodings(shapes, value);
    if (body.find('\n') != std::string_view::npos) add_lines(shapes, body);
    return {shapes.begin(), shapes.end()};
}

}  // namespace oyat::masking
