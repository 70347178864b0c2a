#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

// What a certificate may stand for: lower-case host names, "*.domain", and IP addresses. Everything else is
// refused and never cleaned: names reach us from TLS handshakes of sandboxes.
namespace oyat::pki {

[[nodiscard]] bool is_host_name(std::string_view name) noexcept;
[[nodiscard]] bool is_ip_address(const std::string& name) noexcept;

// "DNS:example.org,DNS:*.example.org,IP:127.0.0.1", as OpenSSL's configuration of extensions wants it.
[[nodiscard]] Result<std::string> alternative_names(std::span<const std::string> names);

}  // namespace oyat::pki
