#include "secrets/placeholder.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/throwing.hpp"

namespace oyat::secrets {
namespace {

constexpr std::string_view kBase62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kOwnStart = "oyat_ph_";
constexpr std::size_t kOwnRandom = 22;  // 131 bits
constexpr const char* kOwn = "oyat_ph_{22}";
constexpr std::size_t kLeastRandom = 11;  // 65 bits
constexpr std::size_t kMost = 256;

bool is_base62(char c) {
    return kBase62.find(c) != std::string_view::npos;
}

// Characters that need no escaping wherever a value may stand: URLs, JSON, headers, shells.
bool is_plain(char c) {
    return is_base62(c) || c == '.' || c == '_' || c == '~' || c == '-';
}

struct Piece {
    std::string_view literal;  // or
    std::size_t random = 0;
};

// The next piece, taken off the front; nothing for a shape that is wrong.
std::optional<Piece> take(std::string_view& text) {
    if (!text.starts_with('{')) {
        const std::string_view literal = text.substr(0, text.find('{'));
        text.remove_prefix(literal.size());
        if (!std::ranges::all_of(literal, is_plain)) return std::nullopt;
        return Piece{.literal = literal};
    }
    const std::size_t close = text.find('}');
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view digits = text.substr(1, close - 1);
    std::size_t count = 0;
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
    if (problem != std::errc{} || end != digits.data() + digits.size() || count == 0 || count > kMost) {
        return std::nullopt;
    }
    text.remove_prefix(close + 1);
    return Piece{.random = count};
}

// An endless row of characters, each equally likely: HMAC-SHA256 over purpose and counter, bytes that would
// make some characters likelier are passed over.
class Characters {
public:
    Characters(std::string_view seed, std::string_view purpose) : seed_{seed}, purpose_{purpose} {}

    char next() {
        constexpr unsigned kFair = 256 / 62 * 62;
        while (true) {
            if (place_ == block_.size()) refill();
            const unsigned byte = block_[place_++];
            if (byte < kFair) return kBase62[byte % 62];
        }
    }

private:
    void refill() {
        const std::string message = std::to_string(counter_++) + "/" + std::string{purpose_};
        unsigned length = 0;
        if (HMAC(EVP_sha256(), seed_.data(), static_cast<int>(seed_.size()),
                 reinterpret_cast<const unsigned char*>(message.data()), message.size(), block_.data(),
                 &length) == nullptr) {
            throw Error{Errc::internal, "the digest failed"};
        }
        place_ = 0;
    }

    std::string_view seed_, purpose_;
    std::uint64_t counter_ = 0;
    std::array<unsigned char, 32> block_{};
    std::size_t place_ = 32;
};

}  // namespace

Result<PlaceholderShape> PlaceholderShape::parse(std::string_view text) {
    const std::string_view whole = text.empty() ? std::string_view{kOwn} : text;
    std::size_t random = 0;
    std::size_t length = 0;
    for (std::string_view rest = whole; !rest.empty();) {
        const std::optional<Piece> piece = take(rest);
        if (!piece) {
            return refuse(Errc::invalid_argument,
                          "a placeholder's shape is of [A-Za-z0-9._~-] and {n} for n random characters");
        }
        random += piece->random;
        length += piece->random + piece->literal.size();
    }
    if (random < kLeastRandom) {
        return refuse(Errc::invalid_argument,
                      "a placeholder's shape needs at least 11 random characters (64 bits)");
    }
    if (length > kMost) {
        return refuse(Errc::invalid_argument, "a placeholder's shape of more than 256 characters");
    }
    return PlaceholderShape{std::string{whole}};
}

std::string PlaceholderShape::make(std::string_view seed, std::string_view purpose) const {
    Characters characters{seed, purpose};
    std::string made;
    for (std::string_view rest = text_; !rest.empty();) {
        const Piece piece = *take(rest);
        made += piece.literal;
        for (std::size_t i = 0; i < piece.random; ++i) made += characters.next();
    }
    return made;
}

bool has_own_shape(std::string_view text) {
    for (std::size_t at = text.find(kOwnStart); at != std::string_view::npos;
         at = text.find(kOwnStart, at + 1)) {
        const std::string_view random = text.substr(at + kOwnStart.size(), kOwnRandom);
        if (random.size() == kOwnRandom && std::ranges::all_of(random, is_base62)) return true;
    }
    return false;
}

}  // namespace oyat::secrets
