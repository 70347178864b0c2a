#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace oyat::daemon {

// When the host trusts certificate authorities of its own (a company's TLS-inspecting proxy), the keeper puts
// them into every sandbox's bundle; these variables make programs use it that bring their own list. Empty
// when there are none.
[[nodiscard]] std::map<std::string, std::string> certificate_environment(
    const std::filesystem::path& extra_certificates = "/usr/local/share/ca-certificates");

}  // namespace oyat::daemon
