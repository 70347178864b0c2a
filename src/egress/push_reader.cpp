#include "egress/push_reader.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace oyat::egress {
namespace {

constexpr std::size_t kMaxRef = 1024;
constexpr std::size_t kPrefix = 4;  // of a pkt-line: its whole length in hexadecimal
constexpr std::size_t kMaxPacket = 65520;
constexpr std::string_view kPrefixDigits = "0123456789abcdefABCDEF";

auto unreadable(std::string what) {
    return refuse(Errc::invalid_argument, "the refs of this push can't be read: " + std::move(what));
}

bool is_hex(std::string_view text) {
    return text.find_first_not_of(kPrefixDigits) == std::string_view::npos;
}

// Takes an object's name, SHA-1 or SHA-256, off the front.
std::optional<std::string_view> take_object(std::string_view& text) {
    const std::string_view name = text.substr(0, text.find(' '));
    if ((name.size() != 40 && name.size() != 64) || !is_hex(name)) return std::nullopt;
    text.remove_prefix(name.size());
    return name;
}

bool take_blank(std::string_view& text) {
    if (!text.starts_with(' ')) return false;
    text.remove_prefix(1);
    return true;
}

bool is_component(std::string_view part) {
    return !part.empty() && !part.starts_with('.') && !part.ends_with(".lock");
}

}  // namespace

bool is_full_ref(std::string_view name) {
    if (!name.starts_with("refs/") || name.size() > kMaxRef || name.ends_with('.')) return false;
    if (name.find("..") != name.npos || name.find("@{") != name.npos) return false;
    const bool plain = std::ranges::none_of(name, [](char c) {
        return static_cast<unsigned char>(c) <= ' ' || c == '\x7f' ||
               std::string_view{"~^:?*[\\"}.contains(c);
    });
    if (!plain) return false;
    while (true) {
        const std::size_t end = name.find('/');
        if (!is_component(name.substr(0, end))) return false;
        if (end == name.npos) return true;
        name.remove_prefix(end + 1);
    }
}

Result<PushReader> PushReader::of(const http::Fields& fields) {
    PushReader reader;
    const std::size_t encodings = fields.count("Content-Encoding");
    if (encodings == 0) return reader;
    const std::string_view encoding = fields.get("Content-Encoding");
    if (encodings > 1 || (encoding != "gzip" && encoding != "x-gzip")) {
        return unreadable("its body is neither plain nor gzip");
    }
    reader.gunzip_ = std::make_unique<http::Gunzip>();
    return reader;
}

Result<bool> PushReader::take(std::string_view bytes) {
    if (!gunzip_) return take_plain(bytes);
    gunzip_->put(bytes);
    for (;;) {
        const Result<std::string> piece = gunzip_->take();
        if (!piece) return unreadable(piece.error().message());
        if (piece->empty()) return false;
        if (Result<bool> taken = take_plain(*piece); !taken || *taken) return taken;
    }
}

Result<bool> PushReader::take_plain(std::string_view bytes) {
    list_.append(bytes.substr(0, kMaxBytes + 1 - std::min(list_.size(), kMaxBytes)));
    for (;;) {
        const std::string_view rest = std::string_view{list_}.substr(read_);
        std::size_t size = 0;
        if (rest.size() >= kPrefix) {
            const std::string_view digits = rest.substr(0, kPrefix);
            if (!is_hex(digits)) return unreadable("its list is malformed");
            std::from_chars(digits.begin(), digits.end(), size, 16);
            if (size == 0) return true;
            if (size <= kPrefix || size > kMaxPacket) return unreadable("its list is malformed");
        }
        if (rest.size() < kPrefix || rest.size() < size) {
            if (list_.size() > kMaxBytes) return unreadable("its list is too long");
            return false;
        }
        if (Result<void> line = take_line(rest.substr(kPrefix, size - kPrefix)); !line) {
            return std::unexpected{std::move(line).error()};
        }
        read_ += size;
    }
}

// "OLD NEW REF", the first time followed by NUL and what the client can do.
Result<void> PushReader::take_line(std::string_view line) {
    if (line.ends_with('\n')) line.remove_suffix(1);
    line = line.substr(0, line.find('\0'));
    if (line.starts_with("push-cert")) return unreadable("it is signed (push-cert)");
    if (line.starts_with("shallow ")) {
        line.remove_prefix(8);
        if (!take_object(line) || !line.empty()) return unreadable("its list is malformed");
        return {};
    }
    const auto before = take_object(line);
    if (!before || !take_blank(line)) return unreadable("its list is malformed");
    const auto after = take_object(line);
    if (!after || after->size() != before->size() || !take_blank(line)) {
        return unreadable("its list is malformed");
    }
    if (!is_full_ref(line)) return unreadable("a ref in it has no valid name");
    if (refs_.size() == kMaxRefs) return unreadable("its list is too long");
    refs_.emplace_back(line);
    return {};
}

}  // namespace oyat::egress
