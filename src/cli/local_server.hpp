#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "cli/commands.hpp"

namespace oyat::cli {

// The server of this machine: a systemd unit where the package is installed, else what scripts/serve runs
// from the build tree beside this program.
class LocalServer {
public:
    explicit LocalServer(Server options);

    // Returns when the server answers. Throws Failure.
    Task<> start(Context& context);
    // Sandboxes stay. True when there was something to stop.
    Task<bool> stop();
    // Runs the program that makes the base template, with its progress. Throws Failure.
    void make_base_template() const;
    // Where it will answer; as `settings` say where the package's configuration decides.
    [[nodiscard]] std::string url(const Settings& settings) const;
    // The key that the server was started with.
    [[nodiscard]] std::string key() const;

private:
    [[nodiscard]] bool has_unit() const;
    void need_root() const;
    void start_from_tree();
    void share_key() const;
    // Why the daemons did not start, in their own words since `up` began; "" when they said nothing.
    [[nodiscard]] std::string last_words() const;
    [[nodiscard]] std::optional<pid_t> serve_pid() const;
    [[nodiscard]] std::map<std::string, std::string> tree_environment() const;
    [[nodiscard]] std::filesystem::path tool(const std::string& name) const;

    std::filesystem::path bin_;  // where this program lies
    Server options_;
    pid_t child_ = -1;
    std::map<std::filesystem::path, std::uintmax_t> logs_before_;  // how long they were
};

}  // namespace oyat::cli
