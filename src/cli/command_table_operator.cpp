#include "cli/command_table.hpp"

// Commands for who runs the server.
namespace oyat::cli {

void CommandLine::add_server_commands() {
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

void CommandLine::brake_options(CLI::App& to_app) {
    to_app.add_option("--state", aim.state, "ask the keeper of this state, as root, not the server");
}

CLI::Option* CommandLine::brake_targets(CLI::App& to_app) {
    brake_options(to_app);
    return to_app.add_option("ids", aim.ids, "sandboxes")->check(is_id);
}

void CommandLine::add_brake_commands() {
    CLI::App* freeze_app = add(app, "freeze", "hold sandboxes: nothing in them runs until 'oyat thaw'",
                               looped([this](Context& context) { return freeze(context, aim); }));
    brake_targets(*freeze_app)->required();
    CLI::App* thaw_app = add(app, "thaw", "let go what 'freeze' or 'stop' holds",
                             looped([this](Context& context) { return thaw(context, aim); }));
    CLI::Option* held = brake_targets(*thaw_app);
    thaw_app->add_flag("--all", aim.all, "all of them, and make sandboxes again")->excludes(held);
    CLI::App* stop_app = add(
        app, "stop", "hold sandboxes and cut their connections, at once", looped([this](Context& context) {
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

void CommandLine::add_key_commands() {
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
    CLI::App* revoke_app = add(*key_app, "revoke", "make a key useless",
                               looped([this](Context& context) { return key_revoke(context, id, tenant); }));
    revoke_app->add_option("id", id, "key_...")->required();
    for (CLI::App* each : {create_app, ls_app, revoke_app})
        each->add_option("--tenant", tenant, "of this tenant");
}

void CommandLine::add_tls_commands() {
    CLI::App* tls_app = app.add_subcommand("tls", "certificates for a domain of your own");
    tls_app->require_subcommand(1);
    CLI::App* init_app =
        add(*tls_app, "init", "make a private authority and a certificate for the domain and all below it",
            [this](Context& context) { return tls_init(context, tls); });
    init_app->add_option("domain", tls.domain, "NAME, or NAME:PORT unless the port is 443")
        ->capture_default_str();
    init_app->add_option("--state", tls.state, "the server's state directory")->capture_default_str();
}

CommandEntry CommandLine::entry_of(const CLI::App& from_app) {
    CommandEntry entry{.name = from_app.get_name(),
                       .description = from_app.get_description(),
                       .options = {},
                       .commands = {}};
    for (const CLI::Option* option : from_app.get_options()) {
        for (const std::string& long_name : option->get_lnames()) entry.options.push_back("--" + long_name);
    }
    for (const CLI::App* below : from_app.get_subcommands([](const CLI::App*) { return true; })) {
        entry.commands.push_back(entry_of(*below));
    }
    return entry;
}

void CommandLine::add_completion() {
    CLI::App* completion_app = add(app, "completion", "print a completion script", [this](Context&) {
        const CommandEntry program = entry_of(app);
        print(shell_name == "bash" ? bash_completion(program) : zsh_completion(program));
        return 0;
    });
    completion_app->add_option("shell", shell_name, "bash or zsh")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh"}));
}

}  // namespace oyat::cli
