#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "secrets/secret_value.hpp"

namespace oyat::secrets {

// Locks values for the database: AES-256-GCM under a key that the database does not hold. `about` (whose
// value it is, which version) is authenticated with it, so a sealed value that was moved to another place of
// the database does not open there.
class Seal {
public:
    static constexpr std::size_t kKeyBytes = 32;

    explicit Seal(SecretValue key);  // of kKeyBytes

    [[nodiscard]] std::string close(std::string_view about, std::string_view value) const;  // base64
    // Refuses what this key did not lock, or not for this.
    [[nodiscard]] Result<SecretValue> open(std::string_view about, std::string_view sealed) const;

private:
    SecretValue key_;
};

}  // namespace oyat::secrets
