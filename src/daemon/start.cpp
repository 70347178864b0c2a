#include "daemon/start.hpp"

#include <sys/stat.h>

#include <filesystem>

#include "base/log.hpp"
#include "daemon/privileges.hpp"
#include "daemon/text_file.hpp"

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
    Start start{.options = std::move(options)};
    start.config = read_config(start.options);
    log::set_level(start.config.log_level);
    start.api_key = read_key(start.options.api_key_file);
    const User user = find_user(start.options.user);
    start.state = prepare_state_directory(start.options.state, user.uid, user.gid);
    raise_descriptor_limit();
    give_up_privileges(user);
    return start;
}

void reload(const Options& options) {
    try {
        log::set_level(read_config(options).log_level);
        log::info("the log level was read again; all other settings change with a restart");
    } catch (const Error& error) {
        log::error("the configuration cannot be read; nothing changes", {{"why", error.what()}});
    }
}

}  // namespace oyat::daemon
