#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace oyat::secrets {

// What a header field becomes: "Bearer {}", "{secret:user}:{}", "Bearer {token:aws}".
class Format {
public:
    struct Piece {
        enum class Kind { text, secret, token } kind = Kind::text;
        std::string text;  // or the name of the secret or token
        bool operator==(const Piece&) const = default;
    };

    // {} is `own`, which may be "" when the format names none. Refuses unknown words and braces that stand
    // alone.
    [[nodiscard]] static Result<Format> parse(std::string_view text, const std::string& own);

    [[nodiscard]] const std::vector<Piece>& pieces() const { return pieces_; }
    // The names of all secrets in it, each once.
    [[nodiscard]] std::vector<std::string> secrets() const;

private:
    std::vector<Piece> pieces_;
};

// The text as a format that stands for nothing but itself.
[[nodiscard]] std::string escape_format(std::string_view text);

}  // namespace oyat::secrets
