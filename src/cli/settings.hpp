#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.hpp"

namespace oyat::cli {

// Where the server is and what opens it.
struct Settings {
    std::string url = "http://127.0.0.1:3000";
    std::string key;
};

// Where `oyat up` and the package leave the server's first key: readable by root and the group oyat.
inline constexpr const char* kKeyFile = "/var/lib/oyat/api-key";

using Environment = std::function<std::optional<std::string>(const char* name)>;
[[nodiscard]] std::optional<std::string> from_environment(const char* name);

// OYAT_URL and OYAT_API_KEY; else what ~/.config/oyat/config.toml says (url, api_key); else the server of
// this machine and its key, for those who may read it. invalid_argument: a configuration file that cannot be
// understood.
[[nodiscard]] Result<Settings> find_settings(const Environment& environment,
                                             const std::string& key_file = kKeyFile);

}  // namespace oyat::cli
