#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <csignal>
#include <functional>
#include <tuple>

#include "base/defer.hpp"
#include "base/id.hpp"
#include "base/throwing.hpp"
#include "cli/commands.hpp"
#include "cli/completion.hpp"
#include "cli/failure.hpp"
#include "cli/format.hpp"
#include "io/run.hpp"

// CLI11 takes seconds to compile: for the files of the table alone. Each command is a block: its words, then
// the action that takes them.
namespace oyat::cli {

using Action = std::function<int(Context&)>;

// An option whose text becomes a checked value in `place`.
template <class T, class Place>
CLI::Option* add_parsed(CLI::App& app, const std::string& name, Result<T> (*parse)(std::string_view),
                        Place& place, const std::string& what) {
    return app.add_option_function<std::string>(
        name,
        [name, parse, &place](const std::string& text) {
            Result<T> value = parse(text);
            if (!value) throw CLI::ValidationError{name, value.error().message()};
            place = *std::move(value);
        },
        what);
}

inline CLI::Option* add_pairs(CLI::App& app, const std::string& name, const std::string& what,
                              std::vector<std::pair<std::string, std::string>>& pairs) {
    return app
        .add_option_function<std::vector<std::string>>(
            name,
            [name, &pairs](const std::vector<std::string>& texts) {
                for (const std::string& text : texts) {
                    auto pair = parse_pair(text);
                    if (!pair) throw CLI::ValidationError{name, pair.error().message()};
                    pairs.push_back(*std::move(pair));
                }
            },
            what)
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
}

inline Task<int> and_disconnect(Context& context, Task<int> command) {
    const Defer left{[&context] { context.client.disconnect(); }};
    co_return co_await std::move(command);
}

// The whole table. Lives as long as the program: actions refer to the options in it.
struct CommandLine {
    CLI::App app{"oyat: sandboxes for AI agents on this machine", "oyat"};
    Action action;
    bool json = false;

    NewSandbox sandbox;
    Command command;
    Listing listing;
    Aim aim;
    Watch watching;
    AuditQuery query;
    PolicyQuestion question;
    Server server;
    TlsInit tls;
    std::vector<std::string> ids, scopes{"run"};
    std::string id, from, to, name, tenant, digest, path, shell_name;
    std::optional<std::string> maybe_id;
    Port port_options;
    SnapshotListing snapshot_listing;
    std::string keeps = "memory";
    std::optional<Millis> maybe_life;
    std::uint32_t count = 1;
    std::uint64_t limit = 1000;
    Millis life{0}, grace{0};
    NewSecret secret;
    std::size_t after_separator = 0;  // how many words stand after the first "--"
    bool all = false, keep = false, follow = false, once = false, no_stdin = false, force = false;

    explicit CommandLine(std::string program_version) {
        app.require_subcommand(1);
        app.fallthrough();
        app.add_flag("--json", json, "print the server's JSON");
        app.set_version_flag("--version", std::move(program_version));
        add_server_commands();
        add_sandbox_commands();
        add_snapshot_commands();
        add_brake_commands();
        add_run_commands();
        add_record_commands();
        add_policy_commands();
        add_template_commands();
        add_key_commands();
        add_secret_commands();
        add_tls_commands();
        add_completion();
    }

    CLI::App* add(CLI::App& parent, const std::string& word, const std::string& what, Action then) {
        CLI::App* command_app = parent.add_subcommand(word, what);
        command_app->callback([this, then = std::move(then)] {
            check_words();
            action = then;
        });
        return command_app;
    }
    // A command that waits for things, on a loop of its own.
    template <class F>
    Action looped(F body) {
        return [body](Context& context) { return oyat::run(and_disconnect(context, body(context))); };
    }

    // Returns those that only a sandbox that is yet to be made can take.
    std::vector<const CLI::Option*> sandbox_options(CLI::App& to_app);
    // What any command inside may be told.
    void process_options(CLI::App& to_app);
    void command_options(CLI::App& to_app);
    // Where positionals end the options, the word that separates the two is one of them, and an option that
    // comes too late would be taken for the program.
    void check_words();
    void id_argument(CLI::App& to_app) { to_app.add_option("id", id, "sandbox")->required()->check(is_id); }
    // Known before a server is asked, and so never part of another path than meant.
    static std::string is_id(const std::string& text);

    void add_server_commands();

    void add_sandbox_commands();

    void add_snapshot_commands();

    // Brakes of the operator: what --state names is asked past the server.
    void brake_options(CLI::App& to_app);
    CLI::Option* brake_targets(CLI::App& to_app);
    void add_brake_commands();

    void add_run_commands();

    // `shell [ID] [-- COMMAND...]`: the words decide whether there is an id.
    void add_shell();

    void add_record_commands();

    void add_policy_commands();

    void add_template_commands();

    void add_secret_commands();

    void add_key_commands();

    void add_tls_commands();

    void add_completion();

    static CommandEntry entry_of(const CLI::App& from_app);
};

}  // namespace oyat::cli
