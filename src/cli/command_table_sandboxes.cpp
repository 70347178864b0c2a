#include "cli/command_table.hpp"

// Commands for sandboxes and what runs in them.
namespace oyat::cli {

void CommandLine::check_words() {
    std::vector<std::string>& words = command.argv;
    if (words.empty()) return;
    if (words.front() == "--") {
        words.erase(words.begin());
        if (words.empty()) throw CLI::RequiredError{"a command after --"};
    } else if (words.front().starts_with('-')) {
        throw CLI::ValidationError{words.front(), "options come before the sandbox's id and the command"};
    }
}

std::string CommandLine::is_id(const std::string& text) {
    return is_sandbox_id(text) ? "" : "'" + text + "' is not the id of a sandbox ('oyat ls' shows them)";
}

std::vector<const CLI::Option*> CommandLine::sandbox_options(CLI::App& to_app) {
    add_pairs(to_app, "-e,--env", "variable for all commands in it", sandbox.env);
    return {
        to_app.add_option("--template", sandbox.base, "name, name:tag or digest; id or name of a snapshot")
            ->capture_default_str(),
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
            .add_option("--preset", sandbox.preset, "its way out in one word: packages-only, public-web, ...")
            ->excludes("--no-internet")
            ->excludes("--policy"),
        add_pairs(to_app, "--metadata", "your own label", sandbox.metadata)};
}

void CommandLine::process_options(CLI::App& to_app) {
    to_app.add_option("--user", command.user, "user inside (default: the template's)");
    to_app.add_option("--cwd", command.cwd, "directory inside");
    add_parsed(to_app, "--wall", parse_time_limit, command.timeout, "end the command after this time");
}

void CommandLine::command_options(CLI::App& to_app) {
    process_options(to_app);
    to_app.add_flag("-t,--tty", command.terminal, "give it a terminal");
    to_app.add_flag("--no-stdin", no_stdin, "do not pass standard input in");
    to_app.add_option("command", command.argv, "program and its arguments, after --")->required();
    to_app.positionals_at_end();
}

void CommandLine::add_sandbox_commands() {
    sandbox_options(*add(app, "create", "make a sandbox and print its id",
                         looped([this](Context& context) { return create(context, sandbox); })));
    CLI::App* ls_app =
        add(app, "ls", "list sandboxes", looped([this](Context& context) { return ls(context, listing); }));
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
    kill_app->add_option("--state", aim.state, "with --force: ask the keeper of this state, not the server")
        ->needs(past);
    kill_app->require_option(1, 0);
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

void CommandLine::add_run_commands() {
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
    CLI::App* cp_app = add(app, "cp", "copy files and directories in or out; links are left out",
                           looped([this](Context& context) { return cp(context, from, to, command.user); }));
    cp_app->add_option("from", from, "PATH, ID:PATH or -")->required();
    cp_app->add_option("to", to, "PATH, ID:PATH or -")->required();
    cp_app->add_option("--user", command.user, "user inside");
    id_argument(*add(app, "packages", "list what was installed in it",
                     looped([this](Context& context) { return packages(context, id); })));
    CLI::App* port_app = add(app, "port", "reach a port inside from this machine",
                             looped([this](Context& context) { return port(context, id, port_options); }));
    id_argument(*port_app);
    port_app->add_option("port", port_options.inside, "port inside")
        ->required()
        ->check(CLI::Range(1, 65'535));
    CLI::Option* here = port_app->add_option("local", port_options.local, "port here (default: a free one)");
    port_app
        ->add_option("--expose", port_options.who, "who may come from outside: closed, token, link or public")
        ->check(CLI::IsMember({"closed", "token", "link", "public"}))
        ->excludes(here);
    add_parsed(*port_app, "--link", parse_duration, port_options.link_life,
               "print a link that opens it for this long, such as 1h")
        ->excludes(here);
}

void CommandLine::add_shell() {
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
                throw CLI::ValidationError{option->get_name(), "is for a new sandbox, and this one is there"};
        }
        check_words();
        action = looped([this](Context& context) { return shell(context, maybe_id, sandbox, command); });
    });
}

void CommandLine::add_template_commands() {
    CLI::App* template_app = app.add_subcommand("template", "read-only roots for sandboxes");
    template_app->require_subcommand(1);
    add(*template_app, "ls", "list templates", looped([](Context& context) { return template_ls(context); }));
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

}  // namespace oyat::cli
