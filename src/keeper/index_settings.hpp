#pragma once

#include <string>
#include <string_view>

namespace oyat::keeper {

// Where the operator's package clients look for packages, taken over from the host's own configuration. Only
// settings that name a place: an address with a user name in it, and every token, stays on the host.

inline constexpr std::string_view kBundleInside = "/etc/ssl/certs/ca-certificates.crt";

// True for http(s)://HOST... without user name or password.
[[nodiscard]] bool is_plain_url(std::string_view url) noexcept;

// A pip.conf with the index settings of the host's and the bundle as `cert`. `host` may hold several files'
// text.
[[nodiscard]] std::string pip_conf(std::string_view host);

// An npmrc with the registries of the host's and the bundle as `cafile`.
[[nodiscard]] std::string npmrc(std::string_view host);

// An apt.conf with the host's proxies, or nothing when it has none.
[[nodiscard]] std::string apt_proxies(std::string_view host);

// Lines of /etc/hosts that name other machines.
[[nodiscard]] std::string foreign_hosts(std::string_view host);

}  // namespace oyat::keeper
