#include "secrets/format.hpp"

#include <algorithm>

#include "base/throwing.hpp"
#include "secrets/secret.hpp"

namespace oyat::secrets {
namespace {

using Kind = Format::Piece::Kind;

Result<Format::Piece> reference(std::string_view word, const std::string& own) {
    if (word.empty()) {
        if (own.empty()) return refuse(Errc::invalid_argument, "format: {} without a secret");
        return Format::Piece{.kind = Kind::secret, .text = own};
    }
    constexpr std::string_view kSecret = "secret:";
    constexpr std::string_view kToken = "token:";
    if (word.starts_with(kSecret)) {
        Result<std::string> name = secret_name(word.substr(kSecret.size()));
        if (!name) return std::unexpected{std::move(name).error()};
        return Format::Piece{.kind = Kind::secret, .text = *std::move(name)};
    }
    if (word.starts_with(kToken) && word.size() > kToken.size()) {
        return Format::Piece{.kind = Kind::token, .text = std::string{word.substr(kToken.size())}};
    }
    return refuse(Errc::invalid_argument, "format: there are {}, {secret:NAME}, {token:NAME}, {{ and }}");
}

}  // namespace

Result<Format> Format::parse(std::string_view text, const std::string& own) {
    Format format;
    std::string literal;
    const auto flush = [&] {
        if (!literal.empty())
            format.pieces_.push_back({.kind = Kind::text, .text = std::exchange(literal, {})});
    };
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (c != '{' && c != '}') {
            literal += c;
            continue;
        }
        if (text.substr(at + 1).starts_with(c)) {
            literal += c;
            ++at;
            continue;
        }
        const std::size_t close = c == '{' ? text.find('}', at) : std::string_view::npos;
        if (close == std::string_view::npos)
            return refuse(Errc::invalid_argument, "format: a brace stands alone");
        Result<Piece> piece = reference(text.substr(at + 1, close - at - 1), own);
        if (!piece) return std::unexpected{std::move(piece).error()};
        flush();
        format.pieces_.push_back(*std::move(piece));
        at = close;
    }
    flush();
    return format;
}

std::vector<std::string> Format::secrets() const {
    std::vector<std::string> names;
    for (const Piece& piece : pieces_) {
        if (piece.kind == Kind::secret && std::ranges::find(names, piece.text) == names.end()) {
            names.push_back(piece.text);
        }
    }
    return names;
}

std::string escape_format(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        if (c == '{' || c == '}') escaped += c;
        escaped += c;
    }
    return escaped;
}

}  // namespace oyat::secrets
