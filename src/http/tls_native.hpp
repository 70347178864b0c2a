#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string_view>

#include "base/error.hpp"

// What the parts of TLS share of OpenSSL.
namespace oyat::http::native {

// In ALPN's form: length, name. The server's order decides.
inline constexpr std::string_view kHttp11 = "\x08http/1.1";
inline constexpr std::string_view kHttp2AndHttp11 = "\x02h2\x08http/1.1";

inline const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

struct Deleter {
    void operator()(SSL* ssl) const noexcept { ::SSL_free(ssl); }
    void operator()(BIO* bio) const noexcept { ::BIO_free(bio); }
    void operator()(BIO_METHOD* method) const noexcept { ::BIO_meth_free(method); }
    void operator()(X509* certificate) const noexcept { ::X509_free(certificate); }
    void operator()(EVP_PKEY* key) const noexcept { ::EVP_PKEY_free(key); }
};
template <class T>
using Owned = std::unique_ptr<T, Deleter>;

// OpenSSL keeps its reasons in a queue of the thread; what stands first is what happened.
[[nodiscard]] Error tls_error(Errc code, std::string_view what);

// As the client sent it; "" for none.
[[nodiscard]] std::string_view server_name(const SSL* ssl);

}  // namespace oyat::http::native
