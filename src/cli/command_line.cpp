#include "cli/command_line.hpp"

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

// The one file that includes CLI11, which takes seconds to compile. Each command is a block: its words, then
// the action that takes them.
namespace oyat::cli {
namespace {

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

CLI::Option* add_pairs(CLI::App& app, const std::string& name, const std::string& what,
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

Task<int> and_disconnect(Context& context, Task<int> command) {
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
    std::vector<const CLI::Option*> sandbox_options(CLI::App& to_app) {
        add_pairs(to_app, "-e,--env", "variable for all commands in it", sandbox.env);
        return {
            to_app.add_option("--template", sandbox.base, "name, name:tag or digest")->capture_default_str(),
            to_app.add_option("--isolation", sandbox.isolation, "jail, gvisor, microvm or auto"),
            to_app.add_option("--minimum-boundary", sandbox.minimum_boundary,
                              "shared-kernel, userspace-kernel or own-kernel: refuse less"),
            add_parsed(to_app, "--memory", parse_size_limit, sandbox.memory, "limit, such as 512MiB or 2GiB"),
            add_parsed(to_app, "--disk", parse_size_limit, sandbox.disk, "limit, such as 10GiB"),
            add_parsed(to_app, "--cpus", parse_cpus, sandbox.cpu_millis, "limit, such as 2 or 0.5"),
            add_parsed(to_app, "--timeout", parse_time_limit, sandbox.timeout,
                       "life of the sandbox, such as 5m or 24h"),
            to_app.add_flag("--no-internet", sandbox.no_internet, "refuse every connection and name"),
            to_app.add_option("--policy", sandbox.policy_file, "its way out, a file in TOML or JSON")
                ->excludes("--no-internet"),
            to_app
                .add_option("--preset", sandbox.preset,
                            "its way out in one word: packages-only, public-web, ...")
                ->excludes("--no-internet")
                ->excludes("--policy"),
            add_pairs(to_app, "--metadata", "your own label", sandbox.metadata)};
    }
    // What any command inside may be told.
    void process_options(CLI::App& to_app) {
        to_app.add_option("--user", command.user, "user inside (default: the template's)");
        to_app.add_option("--cwd", command.cwd, "directory inside");
        add_parsed(to_app, "--wall", parse_time_limit, command.timeout, "end the command after this time");
    }
    void command_options(CLI::App& to_app) {
        process_options(to_app);
        to_app.add_flag("-t,--tty", command.terminal, "give it a terminal");
        to_app.add_flag("--no-stdin", no_stdin, "do not pass standard input in");
        to_app.add_option("command", command.argv, "program and its arguments, after --")->required();
        to_app.positionals_at_end();
    }
    // Where positionals end the options, the word that separates the two is one of them, and an option that
    // comes too late would be taken for the program.
    void check_words() {
        std::vector<std::string>& words = command.argv;
        if (words.empty()) return;
        if (words.front() == "--") {
            words.erase(words.begin());
            if (words.empty()) throw CLI::RequiredError{"a command after --"};
        } else if (words.front().starts_with('-')) {
            throw CLI::ValidationError{words.front(), "options come before the sandbox's id and the command"};
        }
    }
    void id_argument(CLI::App& to_app) { to_app.add_option("id", id, "sandbox")->required()->check(is_id); }
    // Known before a server is asked, and so never part of another path than meant.
    static std::string is_id(const std::string& text) {
        return is_sandbox_id(text) ? "" : "'" + text + "' is not the id of a sandbox ('oyat ls' shows them)";
    }

    void add_server_commands() {
        CLI::App* up_app = add(app, "up", "start the server on this machine",
                               looped([this](Context& context) { return up(context, server); }));
        up_app->add_option("--state", server.state, "where it keeps everything")->capture_default_str();
        add_parsed(*up_app, "--listen", parse_listen, server.listen,
                   "address and port (default: 127.0.0.1:3000; with the package, what oyat.toml says)");
        up_app->add_flag("--without-template", server.without_template, "do not make the base template");
        CLI::App* down_app = add(app, "down", "stop the server; sandboxes stay",
                                 looped([this](Context& context) { return down(context, server); }));
        down_app->add_option("--state", server.state, "as given to up")->capture_default_str();
        add(app, "doctor", "try each part of the server once",
            looped([](Context& context) { return doctor(context); }));
        add(app, "status", "is it up, and what does it hold",
            looped([](Context& context) { return status(context); }));
    }

    void add_sandbox_commands() {
        sandbox_options(*add(app, "create", "make a sandbox and print its id",
                             looped([this](Context& context) { return create(context, sandbox); })));
        CLI::App* ls_app = add(app, "ls", "list sandboxes",
                               looped([this](Context& context) { return ls(context, listing); }));
        ls_app->add_option("--state", listing.states, "only these: running, paused, ...");
        ls_app->add_flag("-q,--quiet", listing.quiet, "ids only");
        CLI::App* kill_app = add(app, "kill", "end sandboxes", looped([this](Context& context) {
                                     if (!force) return kill(context, ids, all);
                                     aim.ids = ids;
                                     return put_down(context, aim);
                                 }));
        CLI::Option* some = kill_app->add_option("ids", ids, "sandboxes")->check(is_id);
        CLI::Option* every = kill_app->add_flag("--all", all, "all of this tenant")->excludes(some);
        CLI::Option* past =
            kill_app->add_flag("--force", force, "past a hold, agents and clients: the operator's");
        past->needs(some)->excludes(every);
        kill_app
            ->add_option("--state", aim.state, "with --force: ask the keeper of this state, not the server")
            ->needs(past);
        kill_app->require_option(1, 0);
        id_argument(*add(app, "pause", "freeze a sandbox",
                         looped([this](Context& context) { return pause(context, id); })));
        id_argument(*add(app, "resume", "let a paused sandbox go on",
                         looped([this](Context& context) { return resume(context, id); })));
        CLI::App* timeout_app = add(app, "timeout", "set when a sandbox ends, from now",
                                    looped([this](Context& context) { return timeout(context, id, life); }));
        id_argument(*timeout_app);
        add_parsed(*timeout_app, "time", parse_duration, life, "such as 30m")->required();
        CLI::App* top_app = add(app, "top", "what each sandbox uses",
                                looped([this](Context& context) { return top(context, once); }));
        top_app->add_flag("--once", once, "print once and end");
        CLI::App* info_app = add(app, "info", "a sandbox's record, or the server",
                                 looped([this](Context& context) { return info(context, maybe_id); }));
        info_app->add_option("id", maybe_id, "sandbox, also one that ended today")->check(is_id);
    }

    // Brakes of the operator: what --state names is asked past the server.
    void brake_options(CLI::App& to_app) {
        to_app.add_option("--state", aim.state, "ask the keeper of this state, as root, not the server");
    }
    CLI::Option* brake_targets(CLI::App& to_app) {
        brake_options(to_app);
        return to_app.add_option("ids", aim.ids, "sandboxes")->check(is_id);
    }
    void add_brake_commands() {
        CLI::App* freeze_app = add(app, "freeze", "hold sandboxes: nothing in them runs until 'oyat thaw'",
                                   looped([this](Context& context) { return freeze(context, aim); }));
        brake_targets(*freeze_app)->required();
        CLI::App* thaw_app = add(app, "thaw", "let go what 'freeze' or 'stop' holds",
                                 looped([this](Context& context) { return thaw(context, aim); }));
        CLI::Option* held = brake_targets(*thaw_app);
        thaw_app->add_flag("--all", aim.all, "all of them, and make sandboxes again")->excludes(held);
        CLI::App* stop_app =
            add(app, "stop", "hold sandboxes and cut their connections, at once",
                looped([this](Context& context) {
                    if (aim.all + !aim.key.empty() + !aim.label.empty() != 1)
                        throw Error{Errc::invalid_argument, "one of --all, --key and --label says which"};
                    return stop(context, aim);
                }));
        brake_options(*stop_app);
        stop_app->add_flag("--all", aim.all, "all, and make none until 'oyat thaw --all'");
        stop_app->add_option("--key", aim.key, "those of this key (key_...), which is revoked");
        stop_app->add_option("--label", aim.label, "those with this NAME=VALUE in their metadata");
        CLI::App* egress_app = app.add_subcommand("egress", "the way out of all sandboxes");
        egress_app->require_subcommand(1);
        CLI::App* off_app = add(*egress_app, "off", "cut it until it is lifted, over restarts",
                                looped([this](Context& context) { return egress_off(context, aim); }));
        CLI::App* on_app = add(*egress_app, "on", "lift that: each policy decides again",
                               looped([this](Context& context) { return egress_on(context, aim); }));
        for (CLI::App* each : {off_app, on_app}) {
            CLI::Option* some = brake_targets(*each);
            each->add_flag("--all", aim.all, "of all sandboxes (so it is without ids)")->excludes(some);
        }
        add(*egress_app, "show", "which brakes are pulled",
            looped([](Context& context) { return egress_show(context); }));
    }

    void add_run_commands() {
        CLI::App* run_app =
            add(app, "run", "run one command in a sandbox of its own", looped([this](Context& context) {
                    command.interactive = !no_stdin;
                    return run(context, sandbox, command, keep);
                }));
        sandbox_options(*run_app);
        run_app->add_flag("--keep", keep, "leave the sandbox afterwards");
        command_options(*run_app);
        CLI::App* exec_app =
            add(app, "exec", "run a command in a sandbox, to the end of all that hold its output",
                looped([this](Context& context) {
                    command.interactive = !no_stdin && !command.detached;
                    return exec(context, id, command);
                }));
        id_argument(*exec_app);
        add_pairs(*exec_app, "-e,--env", "variable for the command", command.env);
        CLI::Option* detach = exec_app->add_flag("-d,--detach", command.detached,
                                                 "start it, print its process id and leave it running");
        command_options(*exec_app);
        detach->excludes(exec_app->get_option("--tty"));
        add_shell();
        CLI::App* cp_app =
            add(app, "cp", "copy files and directories in or out; links are left out",
                looped([this](Context& context) { return cp(context, from, to, command.user); }));
        cp_app->add_option("from", from, "PATH, ID:PATH or -")->required();
        cp_app->add_option("to", to, "PATH, ID:PATH or -")->required();
        cp_app->add_option("--user", command.user, "user inside");
        CLI::App* port_app =
            add(app, "port", "reach a port inside from this machine",
                looped([this](Context& context) { return port(context, id, port_options); }));
        id_argument(*port_app);
        port_app->add_option("port", port_options.inside, "port inside")
            ->required()
            ->check(CLI::Range(1, 65'535));
        CLI::Option* here =
            port_app->add_option("local", port_options.local, "port here (default: a free one)");
        port_app
            ->add_option("--expose", port_options.who,
                         "who may come from outside: closed, token, link or public")
            ->check(CLI::IsMember({"closed", "token", "link", "public"}))
            ->excludes(here);
        add_parsed(*port_app, "--link", parse_duration, port_options.link_life,
                   "print a link that opens it for this long, such as 1h")
            ->excludes(here);
    }

    // `shell [ID] [-- COMMAND...]`: the words decide whether there is an id.
    void add_shell() {
        CLI::App* shell_app = add(app, "shell", "open a terminal in a sandbox, or in a new one", nullptr);
        const std::vector<const CLI::Option*> of_new = sandbox_options(*shell_app);
        process_options(*shell_app);
        shell_app->add_option("words", command.argv,
                              "[id] [-- command...]; without an id: a sandbox that ends with the shell");
        shell_app->positionals_at_end();
        shell_app->callback([this, of_new] {
            if (!command.argv.empty() && command.argv.size() != after_separator) {
                maybe_id = command.argv.front();
                command.argv.erase(command.argv.begin());
                if (std::string problem = is_id(*maybe_id); !problem.empty())
                    throw CLI::ValidationError{"shell", std::move(problem)};
                command.env = sandbox.env;
            }
            for (const CLI::Option* option : of_new) {
                if (maybe_id && option->count() > 0)
                    throw CLI::ValidationError{option->get_name(),
                                               "is for a new sandbox, and this one is there"};
            }
            check_words();
            action = looped([this](Context& context) { return shell(context, maybe_id, sandbox, command); });
        });
    }

    void add_record_commands() {
        CLI::App* logs_app =
            add(app, "logs", "what happened in a sandbox, with output",
                looped([this](Context& context) { return logs(context, id, follow, limit); }));
        id_argument(*logs_app);
        logs_app->add_flag("-f,--follow", follow, "go on as it happens");
        logs_app->add_option("--limit", limit, "how many events")
            ->capture_default_str()
            ->check(CLI::Range(0, 10'000));
        CLI::App* watch_app =
            add(app, "watch", "events as they happen",
                looped([this](Context& context) { return oyat::cli::watch(context, watching); }));
        watch_app->add_option("--sandbox", watching.sandbox, "only of this one")->check(is_id);
        watch_app->add_option("--type", watching.type, "only types that begin so: command., connect.denied");
        watch_app->add_flag("--old", watching.old, "first what has happened so far");

        CLI::App* audit_app = app.add_subcommand("audit", "the record, from its files, without a server");
        audit_app->require_subcommand(1);
        audit_app->add_option("--state", query.state, "the server's state directory")->capture_default_str();
        CLI::App* show_app = add(*audit_app, "show", "one sandbox's record, with the output of its commands",
                                 [this](Context& context) { return audit_show(context, query); });
        show_app->add_option("chain", query.chain, "sandbox id, or server")->required();
        CLI::App* commands_app =
            add(*audit_app, "commands", "one sandbox's commands: who asked, what became of each, its output",
                [this](Context& context) { return audit_commands(context, query); });
        commands_app->add_option("sandbox", query.chain)->required();
        CLI::App* query_app =
            add(*audit_app, "query", "search the record of all sandboxes, one after the other",
                [this](Context& context) { return audit_show(context, query); });
        for (CLI::App* each : {show_app, query_app}) {
            each->add_option("--type", query.type, "types that begin so");
            each->add_option("--fault", query.fault, "whose: client, policy, command, limit, ...")
                ->check(CLI::IsMember(fault_names()));
            each->add_option("--text", query.text, "records that contain this");
        }
        query_app->add_option("--sandbox", query.chain, "only of this one");
        CLI::App* verify_app =
            add(*audit_app, "verify", "check the chains of digests", [this](Context& context) {
                return audit_verify(context, path.empty() ? query.state + "/audit" : path);
            });
        verify_app->add_option("path", path, "a directory or one file (default: the state's)");
    }

    void add_policy_commands() {
        id_argument(*add(app, "denied", "what a sandbox was refused, and by which rule",
                         looped([this](Context& context) { return denied(context, id); })));
        CLI::App* policy_app = app.add_subcommand("policy", "who may reach what");
        policy_app->require_subcommand(1);
        CLI::App* show_app = add(*policy_app, "show", "what is in force for a sandbox, or above all of them",
                                 looped([this](Context& context) { return policy_show(context, maybe_id); }));
        show_app->add_option("id", maybe_id, "sandbox")->check(is_id);
        CLI::App* test_app = add(*policy_app, "test", "read a file, and say which rules do nothing",
                                 looped([this](Context& context) { return policy_test(context, path); }));
        test_app->add_option("file", path, "TOML, or JSON when it ends in .json")->required();
        CLI::App* set_app = add(*policy_app, "set", "give a sandbox, or the whole tenant, another document",
                                looped([this](Context& context) {
                                    return policy_set(context, name, sandbox.policy_file, sandbox.preset);
                                }));
        set_app->add_option("target", name, "sandbox, or tenant")->required();
        CLI::Option* file =
            set_app->add_option("file", sandbox.policy_file, "TOML, or JSON when it ends in .json");
        set_app
            ->add_option("--preset", sandbox.preset,
                         "in place of a file: offline, packages-only, public-web, ...")
            ->excludes(file);
        CLI::App* explain_app =
            add(*policy_app, "explain", "what would become of a connection, and by which rule",
                looped([this](Context& context) { return policy_explain(context, question); }));
        explain_app->add_option("id", question.id, "sandbox")->required()->check(is_id);
        std::function<void(std::string)> destination = [this](const std::string& text) {
            auto parsed = parse_destination(text);
            if (!parsed) throw CLI::ValidationError{"destination", parsed.error().message()};
            std::tie(question.host, question.port) = *std::move(parsed);
        };
        explain_app->add_option_function<std::string>("destination", destination, "HOST:PORT")->required();
        explain_app->add_option("--method", question.method, "of the request, when it is read");
        explain_app->add_option("--path", question.path, "of the request, when it is read");
        id_argument(*add(*policy_app, "suggest", "print an allow list of what a sandbox has asked for",
                         looped([this](Context& context) { return policy_suggest(context, id); })));
        CLI::App* ready_app = add(*policy_app, "ready", "policies to start from: list them, or print one",
                                  [this](Context& context) { return policy_ready(context, name); });
        ready_app->add_option("name", name, "coding, browsing, data, evaluation");
    }

    void add_template_commands() {
        CLI::App* template_app = app.add_subcommand("template", "read-only roots for sandboxes");
        template_app->require_subcommand(1);
        add(*template_app, "ls", "list templates",
            looped([](Context& context) { return template_ls(context); }));
        CLI::App* import_app =
            add(*template_app, "import", "take in an archive (tar, tar.zst)",
                looped([this](Context& context) { return template_import(context, path, name, digest); }));
        import_app->add_option("file", path, "archive, or -")->required();
        import_app->add_option("--name", name, "name to give it")->required();
        import_app->add_option("--digest", digest, "refuse other contents than sha256:...");
        CLI::App* export_app =
            add(*template_app, "export", "write an archive",
                looped([this](Context& context) { return template_export(context, name, path); }));
        export_app->add_option("template", name, "name or digest")->required();
        export_app->add_option("file", path, "archive, or -")->required();
        CLI::App* rm_app = add(*template_app, "rm", "remove a template",
                               looped([this](Context& context) { return template_rm(context, name); }));
        rm_app->add_option("template", name, "name or digest")->required();
    }

    void add_secret_commands() {
        CLI::App* secret_app =
            app.add_subcommand("secret", "credentials that sandboxes use without having them");
        secret_app->require_subcommand(1);
        const auto named = [this, secret_app](const char* word, const char* what, Action then) {
            CLI::App* each = add(*secret_app, word, what, std::move(then));
            each->add_option("name", name, "name or id")->required();
            return each;
        };
        CLI::App* create_app =
            named("create", "keep a value, from standard input or a file",
                  looped([this](Context& context) { return secret_create(context, name, secret); }));
        create_app->add_option("--file", secret.file, "file with the value (default: standard input)");
        create_app->add_option("--host", secret.hosts, "refuse bindings to other hosts")->delimiter(',');
        create_app->add_option("--description", secret.description, "what it is for");
        add_parsed(*create_app, "--expires", parse_time_limit, secret.life,
                   "useless after this time, such as 30d");
        CLI::App* rotate_app = named(
            "rotate", "give it a new value, in force with the next request",
            looped([this](Context& context) { return secret_rotate(context, name, secret.file, grace); }));
        rotate_app->add_option("--file", secret.file, "file with the value (default: standard input)");
        add_parsed(*rotate_app, "--grace", parse_duration, grace, "how long the old value is masked on");
        named("revoke", "make it useless for good",
              looped([this](Context& context) { return secret_revoke(context, name); }));
        named("show", "all but its value",
              looped([this](Context& context) { return secret_show(context, name); }));
        named("rm", "remove it", looped([this](Context& context) { return secret_rm(context, name); }));
        add(*secret_app, "ls", "list secrets", looped([](Context& context) {
            return secret_ls(context);
        }))->alias("list");
    }

    void add_key_commands() {
        CLI::App* key_app = app.add_subcommand("key", "API keys");
        key_app->require_subcommand(1);
        CLI::App* create_app =
            add(*key_app, "create", "make a key and print it, once",
                looped([this](Context& context) { return key_create(context, name, tenant, scopes); }));
        create_app->add_option("name", name, "what it is for");
        create_app->add_option("--scope", scopes, "run, read, debug, admin")
            ->delimiter(',')
            ->capture_default_str();
        CLI::App* ls_app = add(*key_app, "ls", "list keys",
                               looped([this](Context& context) { return key_ls(context, tenant); }));
        CLI::App* revoke_app =
            add(*key_app, "revoke", "make a key useless",
                looped([this](Context& context) { return key_revoke(context, id, tenant); }));
        revoke_app->add_option("id", id, "key_...")->required();
        for (CLI::App* each : {create_app, ls_app, revoke_app})
            each->add_option("--tenant", tenant, "of this tenant");
    }

    void add_tls_commands() {
        CLI::App* tls_app = app.add_subcommand("tls", "certificates for a domain of your own");
        tls_app->require_subcommand(1);
        CLI::App* init_app = add(*tls_app, "init",
                                 "make a private authority and a certificate for the domain and all below it",
                                 [this](Context& context) { return tls_init(context, tls); });
        init_app->add_option("domain", tls.domain, "NAME, or NAME:PORT unless the port is 443")
            ->capture_default_str();
        init_app->add_option("--state", tls.state, "the server's state directory")->capture_default_str();
    }

    void add_completion() {
        CLI::App* completion_app = add(app, "completion", "print a completion script", [this](Context&) {
            const CommandEntry program = entry_of(app);
            print(shell_name == "bash" ? bash_completion(program) : zsh_completion(program));
            return 0;
        });
        completion_app->add_option("shell", shell_name, "bash or zsh")
            ->required()
            ->check(CLI::IsMember({"bash", "zsh"}));
    }

    static CommandEntry entry_of(const CLI::App& from_app) {
        CommandEntry entry{.name = from_app.get_name(),
                           .description = from_app.get_description(),
                           .options = {},
                           .commands = {}};
        for (const CLI::Option* option : from_app.get_options()) {
            for (const std::string& long_name : option->get_lnames())
                entry.options.push_back("--" + long_name);
        }
        for (const CLI::App* below : from_app.get_subcommands([](const CLI::App*) { return true; })) {
            entry.commands.push_back(entry_of(*below));
        }
        return entry;
    }
};

int perform(CommandLine& line) {
    try {
        Context context{.client = Client{or_throw(find_settings(from_environment))}, .json = line.json};
        return line.action(context);
    } catch (const Failure& failure) {
        print_failure(failure, failure.hint(), line.json);
    } catch (const Error& error) {
        print_failure(error, hint_for(error), line.json);
    }
    return kFailed;
}

// The deepest command that the words name, as one types it.
std::string command_of(const CLI::App& app) {
    const std::vector<const CLI::App*> given =
        app.get_subcommands([](const CLI::App* each) { return each->parsed(); });
    return app.get_name() + (given.empty() ? "" : " " + command_of(*given.front()));
}

// Words that make no command. Beside the exit code of a command inside, ours must not look like one.
int refuse_words(const CommandLine& line, const CLI::ParseError& error) {
    std::string message = error.what();
    const std::vector<std::string> unknown = line.app.remaining(true);
    if (line.action == nullptr && !unknown.empty() && !unknown.front().starts_with('-')) {
        message = "there is no command '" + unknown.front() + "'";
    }
    const std::string command = command_of(line.app);
    print_failure(Error{Errc::invalid_argument, Fault::client, message}, "see '" + command + " --help'",
                  line.json);
    for (const std::string_view inside : {"oyat run", "oyat exec", "oyat shell"}) {
        if (command == inside) return kNotStarted;
    }
    return kUsage;
}

}  // namespace

int run_command_line(int argc, char** argv, std::string version) {
    ::signal(SIGPIPE, SIG_IGN);
    CommandLine line{std::move(version)};
    const std::vector<std::string> words(argv, argv + argc);
    if (const auto separator = std::ranges::find(words, "--"); separator != words.end())
        line.after_separator = static_cast<std::size_t>(words.end() - separator) - 1;
    try {
        line.app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return line.app.exit(error);
        return refuse_words(line, error);
    }
    return perform(line);
}

}  // namespace oyat::cli
