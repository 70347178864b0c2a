#include "pki/pem.hpp"

#include <openssl/bio.h>
#include <openssl/pem.h>

#include <memory>

namespace oyat::pki {
namespace {

struct FreeBio {
    void operator()(BIO* bio) const noexcept { ::BIO_free(bio); }
};
using Bio = std::unique_ptr<BIO, FreeBio>;

Bio reading(const std::string& pem) {
    return Bio{::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))};
}

template <class Write>
std::string written(Write write) {
    const Bio bio{::BIO_new(::BIO_s_mem())};
    if (!bio || write(bio.get()) != 1) throw openssl_error(Errc::internal, "write PEM");
    char* data = nullptr;
    const long size = ::BIO_get_mem_data(bio.get(), &data);
    return {data, static_cast<std::size_t>(size)};
}

// Without this, OpenSSL would ask the terminal.
int no_password(char*, int, int, void*) {
    return -1;
}

}  // namespace

std::string to_pem(X509* certificate) {
    return written([&](BIO* to) { return ::PEM_write_bio_X509(to, certificate); });
}

std::string to_pem(EVP_PKEY* key) {
    return written([&](BIO* to) {
        return ::PEM_write_bio_PKCS8PrivateKey(to, key, nullptr, nullptr, 0, nullptr, nullptr);
    });
}

Result<Certificate> certificate_from_pem(const std::string& pem) {
    Certificate certificate{::PEM_read_bio_X509(reading(pem).get(), nullptr, no_password, nullptr)};
    if (!certificate)
        return std::unexpected{openssl_error(Errc::invalid_argument, "this is not a certificate in PEM")};
    return certificate;
}

Result<Key> key_from_pem(const std::string& pem) {
    Key key{::PEM_read_bio_PrivateKey(reading(pem).get(), nullptr, no_password, nullptr)};
    if (!key) {
        return std::unexpected{
            openssl_error(Errc::invalid_argument, "this is not a private key in PEM without a password")};
    }
    return key;
}

}  // namespace oyat::pki
