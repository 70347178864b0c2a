#pragma once

#include <optional>
#include <string>

#include "daemon/config.hpp"
#include "daemon/options.hpp"
#include "daemon/state_directory.hpp"
#include "secrets/secret_value.hpp"

namespace oyat::daemon {

// What must be read and made before the privileges are given up.
struct Start {
    Options options;
    Config config;
    StatePaths state;
    std::string api_key;  // "" = none was given
    secrets::SecretValue secrets_key;
};

// Reads, makes and then gives up the privileges: when it returns, nothing of root is left. Throws Error.
[[nodiscard]] Start prepare_start(Options options);

// SIGHUP: the configuration as it is now, of which the log level is in force already. Nothing, and nothing
// changed, when there is a mistake in the file: that is logged.
[[nodiscard]] std::optional<Config> reload(const Options& options);

}  // namespace oyat::daemon
