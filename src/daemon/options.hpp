#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace oyat::daemon {

// The command line of oyatd. What is set here wins over the configuration file.
struct Options {
    std::string config;  // "" = /etc/oyat/oyat.toml when it is there
    std::string state = "/var/lib/oyat";
    std::string keeper_socket = "/run/oyat/keeper.sock";
    std::string user;  // "" = stay who we are
    std::optional<std::string> listen;
    std::optional<std::string> tls_listen;
    std::optional<std::string> tls_certificate;
    std::optional<std::string> tls_key;
    std::optional<std::string> domain;
    std::optional<std::string> tls_domain;
    std::optional<std::string> max_sandboxes;
    std::optional<std::string> log_level;
    std::string api_key_file;
    std::string ready_file;
    int ready_fd = -1;
    bool insecure = false;
    bool help = false;
    bool version = false;
};

[[nodiscard]] Result<Options> parse_options(const std::vector<std::string_view>& arguments);
[[nodiscard]] std::string_view usage();

}  // namespace oyat::daemon
