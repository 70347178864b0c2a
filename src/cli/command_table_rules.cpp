#include "cli/command_table.hpp"

// Commands for what sandboxes may, and for what they did.
namespace oyat::cli {

void CommandLine::add_policy_commands() {
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
    explain_app->add_option("--ref", question.ref, "that a git push changes: refs/heads/main");
    id_argument(*add(*policy_app, "suggest", "print an allow list of what a sandbox has asked for",
                     looped([this](Context& context) { return policy_suggest(context, id); })));
    CLI::App* ready_app = add(*policy_app, "ready", "policies to start from: list them, or print one",
                              [this](Context& context) { return policy_ready(context, name); });
    ready_app->add_option("name", name, "coding, browsing, data, evaluation");
}

void CommandLine::add_secret_commands() {
    CLI::App* secret_app = app.add_subcommand("secret", "credentials that sandboxes use without having them");
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
    CLI::App* rotate_app =
        named("rotate", "give it a new value, in force with the next request",
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

void CommandLine::add_record_commands() {
    CLI::App* logs_app = add(app, "logs", "what happened in a sandbox, with output",
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
    CLI::App* query_app = add(*audit_app, "query", "search the record of all sandboxes, one after the other",
                              [this](Context& context) { return audit_show(context, query); });
    for (CLI::App* each : {show_app, query_app}) {
        each->add_option("--type", query.type, "types that begin so");
        each->add_option("--fault", query.fault, "whose: client, policy, command, limit, ...")
            ->check(CLI::IsMember(fault_names()));
        each->add_option("--text", query.text, "records that contain this");
    }
    query_app->add_option("--sandbox", query.chain, "only of this one");
    CLI::App* verify_app = add(*audit_app, "verify", "check the chains of digests", [this](Context& context) {
        return audit_verify(context, path.empty() ? query.state + "/audit" : path);
    });
    verify_app->add_option("path", path, "a directory or one file (default: the state's)");
}

}  // namespace oyat::cli
