#pragma once

#include <openssl/types.h>

#include <memory>
#include <string_view>

#include "base/error.hpp"

// What OpenSSL calls things, owned.
namespace oyat::pki {

struct FreeNative {
    void operator()(X509* certificate) const noexcept;
    void operator()(EVP_PKEY* key) const noexcept;
};
using Certificate = std::unique_ptr<X509, FreeNative>;
using Key = std::unique_ptr<EVP_PKEY, FreeNative>;

// A new P-256 key. Throws Error{internal} when there is no randomness.
[[nodiscard]] Key make_key();

// "what: the reason that OpenSSL gives". Empties its queue of reasons, which is the thread's.
[[nodiscard]] Error openssl_error(Errc code, std::string_view what);

}  // namespace oyat::pki
