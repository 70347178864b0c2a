#include "audit/line.hpp"

#include <openssl/evp.h>

#include "base/assert.hpp"

namespace oyat::audit {
namespace {

constexpr std::string_view kBegin = "{\"h\":\"";
constexpr std::string_view kMiddle = "\",\"r\":";
constexpr std::string_view kEnd = "}";
constexpr std::size_t kHexSize = 64;
constexpr std::size_t kShortest = kBegin.size() + kHexSize + kMiddle.size() + 2 + kEnd.size();

// Sets a record's digest apart from every other use of SHA-256 here (a tree of digests has 0x00 and 0x01).
constexpr unsigned char kRecordTag = 0x02;

int value_of(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    return -1;
}

}  // namespace

std::string to_hex(const Digest& digest) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string hex;
    hex.reserve(kHexSize);
    for (const unsigned char byte : digest) {
        hex += kDigits[byte >> 4];
        hex += kDigits[byte & 15];
    }
    return hex;
}

std::optional<Digest> digest_from_hex(std::string_view hex) {
    Digest digest{};
    if (hex.size() != kHexSize) return std::nullopt;
    for (std::size_t i = 0; i < digest.size(); ++i) {
        const int high = value_of(hex[2 * i]);
        const int low = value_of(hex[2 * i + 1]);
        if (high < 0 || low < 0) return std::nullopt;
        digest[i] = static_cast<unsigned char>(high * 16 + low);
    }
    return digest;
}

void Hasher::Free::operator()(evp_md_ctx_st* context) const noexcept {
    ::EVP_MD_CTX_free(context);
}

Hasher::Hasher() : context_{::EVP_MD_CTX_new()} {
    OYAT_ASSERT(context_ != nullptr && ::EVP_DigestInit_ex(context_.get(), ::EVP_sha256(), nullptr) == 1);
}

Digest Hasher::chained(const Digest& previous, std::string_view record) {
    Digest digest{};
    EVP_MD_CTX* const context = context_.get();
    OYAT_ASSERT(::EVP_DigestInit_ex(context, nullptr, nullptr) == 1 &&
                ::EVP_DigestUpdate(context, &kRecordTag, 1) == 1 &&
                ::EVP_DigestUpdate(context, previous.data(), previous.size()) == 1 &&
                ::EVP_DigestUpdate(context, record.data(), record.size()) == 1 &&
                ::EVP_DigestFinal_ex(context, digest.data(), nullptr) == 1);
    return digest;
}

Digest Hasher::plain(std::string_view bytes) {
    Digest digest{};
    EVP_MD_CTX* const context = context_.get();
    OYAT_ASSERT(::EVP_DigestInit_ex(context, nullptr, nullptr) == 1 &&
                ::EVP_DigestUpdate(context, bytes.data(), bytes.size()) == 1 &&
                ::EVP_DigestFinal_ex(context, digest.data(), nullptr) == 1);
    return digest;
}

std::string make_line(const Digest& head, std::string_view record) {
    std::string line;
    line.reserve(kShortest + record.size() + 1);
    line.append(kBegin).append(to_hex(head)).append(kMiddle).append(record).append(kEnd).append(1, '\n');
    return line;
}

Result<Line> parse_line(std::string_view text) {
    if (text.size() < kShortest || text.size() > kLongestLine || !text.starts_with(kBegin) ||
        !text.ends_with(kEnd) || text.substr(kBegin.size() + kHexSize, kMiddle.size()) != kMiddle) {
        return refuse(Errc::invalid_argument, "not a line of a log");
    }
    const auto head = digest_from_hex(text.substr(kBegin.size(), kHexSize));
    if (!head) return refuse(Errc::invalid_argument, "a digest that is not 64 lower-case hex digits");
    text.remove_prefix(kBegin.size() + kHexSize + kMiddle.size());
    text.remove_suffix(kEnd.size());
    if (!text.starts_with('{') || !text.ends_with('}')) {
        return refuse(Errc::invalid_argument, "a record that is not a JSON object");
    }
    return Line{.head = *head, .record = text};
}

}  // namespace oyat::audit
