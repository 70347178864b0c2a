#include "daemon/start.hpp"

#include <sys/stat.h>

#include <filesystem>

#include "base/log.hpp"
#include "daemon/privileges.hpp"
#include "daemon/text_file.hpp"
#include "secrets/key_file.hpp"

namespace oyat::daemon {
namespace {

std::string read_key(const std::string& file) {
    if (file.empty()) return {};
    std::string key = read_text_file(file);
    while (!key.empty() && (key.back() == '\n' || key.back() == '\r' || key.back() == ' ')) key.pop_back();
    return key;
}

}  // namespace

Start prepare_start(Options options) {
    ::umask(0077);
    Config config = read_config(options);
    log::set_level(config.log_level);
    std::string api_key = read_key(options.api_key_file);
    const User user = find_user(options.user);
    StatePaths state = prepare_state_directory(options.state, user.uid, user.gid);
    secrets::SecretValue secrets_key = secrets::read_or_make_key(state.secrets_key.native());
    raise_descriptor_limit();
    raise_locked_memory_limit();
    give_up_privileges(user);
    return {.options = std::move(options),
            .config = std::move(config),
            .state = std::move(state),
            .api_key = std::move(api_key),
            .secrets_key = std::move(secrets_key)};
}

std::optional<Config> reload(const Options& options) {
    try {
        Config config = read_config(options);
        log::set_level(config.log_level);
        log::info("log level and policy were read again; all other settings change with a restart");
        return config;
    } catch (const Error& error) {
        log::error("the configuration cannot be read; nothing changes", {{"why", error.what()}});
        return std::nullopt;
    }
}

}  // namespace oyat::daemon
