#include "secrets/seal.hpp"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <memory>

#include "base/assert.hpp"
#include "base/throwing.hpp"
#include "secrets/base64.hpp"

namespace oyat::secrets {
namespace {

constexpr std::size_t kNonce = 12;  // random: 2^32 values under one key are safe (NIST SP 800-38D, 8.3)
constexpr std::size_t kTag = 16;

struct Freer {
    void operator()(EVP_CIPHER_CTX* context) const noexcept { EVP_CIPHER_CTX_free(context); }
};

void must(int done) {
    if (done != 1) throw Error{Errc::internal, "the cipher failed"};
}

const unsigned char* raw(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

unsigned char* raw(std::string& text) {
    return reinterpret_cast<unsigned char*>(text.data());
}

}  // namespace

Seal::Seal(SecretValue key) : key_{std::move(key)} {
    OYAT_ASSERT(key_.bytes().size() == kKeyBytes);
}

std::string Seal::close(std::string_view about, std::string_view value) const {
    std::string sealed(kNonce + value.size() + kTag, '\0');
    unsigned char* const nonce = raw(sealed);
    unsigned char* const text = nonce + kNonce;
    must(RAND_bytes(nonce, kNonce));
    const std::unique_ptr<EVP_CIPHER_CTX, Freer> context{EVP_CIPHER_CTX_new()};
    must(EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, raw(key_.bytes()), nonce));
    int written = 0;
    must(EVP_EncryptUpdate(context.get(), nullptr, &written, raw(about), static_cast<int>(about.size())));
    must(EVP_EncryptUpdate(context.get(), text, &written, raw(value), static_cast<int>(value.size())));
    must(EVP_EncryptFinal_ex(context.get(), text + written, &written));
    must(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kTag, text + value.size()));
    return base64(sealed);
}

Result<SecretValue> Seal::open(std::string_view about, std::string_view sealed_text) const {
    std::optional<std::string> sealed = from_base64(sealed_text);
    if (!sealed || sealed->size() < kNonce + kTag) return refuse(Errc::internal, "no sealed value");
    const std::size_t size = sealed->size() - kNonce - kTag;
    unsigned char* const nonce = raw(*sealed);
    SecretValue value = SecretValue::of_size(size);
    const std::unique_ptr<EVP_CIPHER_CTX, Freer> context{EVP_CIPHER_CTX_new()};
    must(EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, raw(key_.bytes()), nonce));
    int written = 0;
    must(EVP_DecryptUpdate(context.get(), nullptr, &written, raw(about), static_cast<int>(about.size())));
    must(EVP_DecryptUpdate(context.get(), value.fill(), &written, nonce + kNonce, static_cast<int>(size)));
    must(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kTag, nonce + kNonce + size));
    if (EVP_DecryptFinal_ex(context.get(), value.fill() + written, &written) != 1) {
        return refuse(Errc::failed_precondition, "sealed with another key, or not for this place");
    }
    return value;
}

}  // namespace oyat::secrets
