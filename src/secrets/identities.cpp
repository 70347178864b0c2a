#include "secrets/identities.hpp"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "base/assert.hpp"
#include "base/id.hpp"
#include "base/sha256.hpp"
#include "base/throwing.hpp"
#include "secrets/base64.hpp"

namespace oyat::secrets {
namespace {

constexpr const char* kKind = "identity";
constexpr const char* kKey = "signing-key";
constexpr const char* kLabel = "oyat identity key";
constexpr std::size_t kCoordinate = 32;  // of a point on P-256

template <class T>
T* must(T* made) {
    if (made == nullptr) throw Error{Errc::internal, "the library could not make an identity key"};
    return made;
}

std::string url64(std::string_view bytes) {
    return base64(bytes, Base64::url);
}

std::string coordinate(EVP_PKEY* key, const char* name) {
    BIGNUM* number = nullptr;
    if (EVP_PKEY_get_bn_param(key, name, &number) != 1) throw Error{Errc::internal, "no public key"};
    std::string bytes(kCoordinate, '\0');
    const int size = BN_bn2binpad(number, reinterpret_cast<unsigned char*>(bytes.data()), kCoordinate);
    BN_free(number);
    OYAT_ASSERT(size == static_cast<int>(kCoordinate));
    return url64(bytes);
}

// Signatures of tokens are the two numbers side by side (RFC 7518, 3.4), not in ASN.1.
std::string plain_signature(const std::string& der) {
    const unsigned char* at = reinterpret_cast<const unsigned char*>(der.data());
    const std::unique_ptr<ECDSA_SIG, decltype(&ECDSA_SIG_free)> pair{
        must(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size()))), ECDSA_SIG_free};
    std::string bytes(2 * kCoordinate, '\0');
    auto* const out = reinterpret_cast<unsigned char*>(bytes.data());
    BN_bn2binpad(ECDSA_SIG_get0_r(pair.get()), out, kCoordinate);
    BN_bn2binpad(ECDSA_SIG_get0_s(pair.get()), out + kCoordinate, kCoordinate);
    return bytes;
}

std::string sign(EVP_PKEY* key, const std::string& text) {
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{must(EVP_MD_CTX_new()),
                                                                          EVP_MD_CTX_free};
    std::string der(128, '\0');
    std::size_t size = der.size();
    if (EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key) != 1 ||
        EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(der.data()), &size,
                       reinterpret_cast<const unsigned char*>(text.data()), text.size()) != 1) {
        throw Error{Errc::internal, "an identity token could not be signed"};
    }
    der.resize(size);
    return plain_signature(der);
}

using Memory = std::unique_ptr<BIO, decltype(&BIO_free)>;

std::string to_pem(EVP_PKEY* key) {
    const Memory memory{must(BIO_new(BIO_s_secmem())), BIO_free};
    if (PEM_write_bio_PrivateKey(memory.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1) {
        throw Error{Errc::internal, "an identity key could not be written"};
    }
    char* text = nullptr;
    const long size = BIO_get_mem_data(memory.get(), &text);
    return {text, static_cast<std::size_t>(size)};
}

EVP_PKEY* from_pem(std::string_view pem) {
    const Memory memory{must(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))), BIO_free};
    return must(PEM_read_bio_PrivateKey(memory.get(), nullptr, nullptr, nullptr));
}

}  // namespace

void Identities::Freer::operator()(EVP_PKEY* key) const noexcept {
    EVP_PKEY_free(key);
}

Identities::Identities(const Clock& clock, core::Store& store, const Seal& seal, std::string issuer)
    : clock_{clock}, store_{store}, seal_{seal}, issuer_{std::move(issuer)} {}

Task<> Identities::load() {
    for (const core::StoredItem& item : co_await store_.load_items(kKind)) {
        if (item.key == kKey) adopt(from_pem(or_throw(seal_.open(kLabel, item.body)).bytes()));
    }
    if (key_) co_return;
    adopt(must(EVP_EC_gen("P-256")));
    std::string pem = to_pem(key_.get());
    std::string sealed = seal_.close(kLabel, pem);
    OPENSSL_cleanse(pem.data(), pem.size());
    co_await store_.save_item(kKind, kKey, std::move(sealed));
}

void Identities::adopt(EVP_PKEY* key) {
    key_.reset(key);
    x_ = coordinate(key, OSSL_PKEY_PARAM_EC_PUB_X);
    y_ = coordinate(key, OSSL_PKEY_PARAM_EC_PUB_Y);
    key_id_ = sha256_hex(x_ + "." + y_).substr(0, 16);
}

std::string Identities::token(const std::string& tenant, const std::string& sandbox,
                              const std::string& audience) const {
    const std::int64_t now = unix_millis(clock_.wall()) / 1000;
    const boost::json::object head{{"alg", "ES256"}, {"typ", "JWT"}, {"kid", key_id_}};
    const boost::json::object claims{
        {"iss", issuer_},       {"sub", tenant + "/" + sandbox},
        {"aud", audience},      {"iat", now},
        {"nbf", now},           {"exp", now + std::chrono::seconds{kLife}.count()},
        {"jti", random_hex(16)}};
    const std::string text =
        url64(boost::json::serialize(head)) + "." + url64(boost::json::serialize(claims));
    return text + "." + url64(sign(key_.get(), text));
}

boost::json::object Identities::key_set() const {
    return {{"keys", boost::json::array{boost::json::object{{"kty", "EC"},
                                                            {"crv", "P-256"},
                                                            {"use", "sig"},
                                                            {"alg", "ES256"},
                                                            {"kid", key_id_},
                                                            {"x", x_},
                                                            {"y", y_}}}}};
}

}  // namespace oyat::secrets
