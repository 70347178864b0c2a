#pragma once

#include <string>

#include "base/result.hpp"
#include "pki/native.hpp"

// Certificates and keys as text (RFC 7468).
namespace oyat::pki {

[[nodiscard]] std::string to_pem(X509* certificate);
// PKCS #8, not encrypted.
[[nodiscard]] std::string to_pem(EVP_PKEY* key);

// The first of the text. A key that is encrypted is refused: nobody is there to be asked for a password.
[[nodiscard]] Result<Certificate> certificate_from_pem(const std::string& pem);
[[nodiscard]] Result<Key> key_from_pem(const std::string& pem);

}  // namespace oyat::pki
