#include "pki/native.hpp"

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <string>

namespace oyat::pki {

void FreeNative::operator()(X509* certificate) const noexcept {
    ::X509_free(certificate);
}

void FreeNative::operator()(EVP_PKEY* key) const noexcept {
    ::EVP_PKEY_free(key);
}

Key make_key() {
    Key key{::EVP_EC_gen("P-256")};
    if (!key) throw openssl_error(Errc::internal, "make a key");
    return key;
}

Error openssl_error(Errc code, std::string_view what) {
    const char* reason = ::ERR_reason_error_string(::ERR_peek_error());
    ::ERR_clear_error();
    return Error{code, std::string{what} + (reason != nullptr ? std::string{": "} + reason : "")};
}

}  // namespace oyat::pki
