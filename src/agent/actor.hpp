#pragma once

#include <string>
#include <string_view>

#include "agent/acting_as.hpp"
#include "agent/path_rules.hpp"
#include "agent/settings.hpp"
#include "agent/users.hpp"

namespace oyat::agent {

// On whose behalf a file request acts, and what its paths mean.
struct Actor {
    User user;
    std::string default_directory;
    bool named = true;  // false: the request named nobody, and the default user acts

    [[nodiscard]] Answer<std::string> resolve(std::string_view path) const {
        return resolve_path(path, user.account.home, default_directory);
    }
};

[[nodiscard]] inline Answer<Actor> make_actor(Users& users, const Settings& settings,
                                              const std::string& name) {
    Answer<User> user = users.find(settings.user_or_default(name));
    if (!user) return std::unexpected{std::move(user).error()};
    const std::string& home = user->account.home;
    Answer<std::string> usual = resolve_path(settings.configured.default_cwd, home, home);
    if (!usual) return std::unexpected{std::move(usual).error()};
    return Actor{.user = *std::move(user), .default_directory = *std::move(usual), .named = !name.empty()};
}

}  // namespace oyat::agent
