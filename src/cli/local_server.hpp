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
    // The key that the server was started with.
    [[nodiscard]] std::string key() const;

private:
    [[nodiscard]] bool has_unit() const;
    void need_root() const;
    void start_from_tree();
    void share_key() const;
    [[nodiscard]] std::optional<pid_t> serve_pid() const;
    [[nodiscard]] std::map<std::string, std::string> tree_environment() const;
    [[nodiscard]] std::filesystem::path tool(const std::string& name) const;

    std::filesystem::path bin_;  // where this program lies
    Server options_;
    pid_t child_ = -1;
};

}  // namespace oyat::cli
