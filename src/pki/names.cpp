#include "pki/names.hpp"

#include <arpa/inet.h>

#include <algorithm>

namespace oyat::pki {
namespace {

constexpr std::size_t kMaxName = 253;  // RFC 1035, 2.3.4, as text without the last dot
constexpr std::size_t kMaxLabel = 63;
constexpr std::size_t kMaxNames = 256;  // of one certificate; more would not fit its clients' buffers

bool is_label(std::string_view label) noexcept {
    // The underscore is no host name's by the letter, but real services have it.
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    };
    return !label.empty() && label.size() <= kMaxLabel && std::ranges::all_of(label, allowed);
}

}  // namespace

bool is_host_name(std::string_view name) noexcept {
    if (name.size() > kMaxName) return false;
    for (;;) {
        const std::size_t dot = name.find('.');
        if (!is_label(name.substr(0, dot))) return false;
        if (dot == std::string_view::npos) return true;
        name.remove_prefix(dot + 1);
    }
}

bool is_ip_address(const std::string& name) noexcept {
    in6_addr unused{};
    return ::inet_pton(AF_INET, name.c_str(), &unused) == 1 ||
           ::inet_pton(AF_INET6, name.c_str(), &unused) == 1;
}

Result<std::string> alternative_names(std::span<const std::string> names) {
    if (names.empty()) return refuse(Errc::invalid_argument, "a certificate needs a name");
    if (names.size() > kMaxNames) return refuse(Errc::invalid_argument, "too many names for one certificate");
    std::string list;
    for (const std::string& name : names) {
        const std::string_view host = name.starts_with("*.") ? std::string_view{name}.substr(2) : name;
        const bool address = is_ip_address(name);
        if (!address && !is_host_name(host)) {
            return refuse(Errc::invalid_argument,
                          "a certificate is for lower-case host names, *.domain or IP addresses only");
        }
        if (!list.empty()) list.push_back(',');
        list.append(address ? "IP:" : "DNS:").append(name);
    }
    return list;
}

}  // namespace oyat::pki
