#include "daemon/operator_env.hpp"

#include <algorithm>
#include <array>
#include <system_error>

namespace oyat::daemon {

std::map<std::string, std::string> certificate_environment(const std::filesystem::path& extra_certificates) {
    constexpr const char* kBundle = "/etc/ssl/certs/ca-certificates.crt";  // inside
    constexpr std::array kVariables{"SSL_CERT_FILE", "CURL_CA_BUNDLE",   "REQUESTS_CA_BUNDLE",
                                    "PIP_CERT",      "GIT_SSL_CAINFO",   "NODE_EXTRA_CA_CERTS",
                                    "AWS_CA_BUNDLE", "CARGO_HTTP_CAINFO"};
    std::error_code absent;
    const std::filesystem::recursive_directory_iterator files{extra_certificates, absent};
    const bool any =
        std::ranges::any_of(files, [](const auto& file) { return file.path().extension() == ".crt"; });
    std::map<std::string, std::string> variables;
    if (!any) return variables;
    for (const char* name : kVariables) variables[name] = kBundle;
    return variables;
}

}  // namespace oyat::daemon
