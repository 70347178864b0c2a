#include "cli/command_table.hpp"

// Commands that put sandboxes to sleep, copy them and bring them back.
namespace oyat::cli {
namespace {

// "forever", or a time as others have it.
Result<Millis> parse_keeping(std::string_view text) {
    if (text == "forever") return Millis{0};
    return parse_duration(text);
}

}  // namespace

void CommandLine::add_snapshot_commands() {
    const auto what = CLI::IsMember{{"memory", "disk"}};
    CLI::App* pause_app = add(app, "pause", "let a sandbox stand still",
                              looped([this](Context& context) { return pause(context, id, keeps); }));
    id_argument(*pause_app);
    pause_app->add_option("--keep", keeps, "memory: all that it is; disk: its files alone")
        ->check(what)
        ->capture_default_str();
    CLI::App* resume_app = add(app, "resume", "let a paused sandbox go on",
                               looped([this](Context& context) { return resume(context, id, keeps); }));
    id_argument(*resume_app);
    resume_app->add_option("--from", keeps, "memory: where it was; disk: anew from its files")
        ->check(what)
        ->capture_default_str();
    CLI::App* fork_app =
        add(app, "fork", "make copies of a running sandbox and print their ids",
            looped([this](Context& context) { return fork(context, id, count, maybe_life); }));
    id_argument(*fork_app);
    fork_app->add_option("--count", count, "how many")->check(CLI::Range(1, 100))->capture_default_str();
    add_parsed(*fork_app, "--timeout", parse_time_limit, maybe_life, "life of each (default: the source's)");
    CLI::App* reset_app = add(app, "reset", "put a sandbox back to its template, or to a snapshot",
                              looped([this](Context& context) { return reset(context, id, name); }));
    id_argument(*reset_app);
    reset_app->add_option("--to", name, "a snapshot");

    CLI::App* snapshot_app = app.add_subcommand("snapshot", "copies of sandboxes that are kept");
    snapshot_app->require_subcommand(1);
    CLI::App* create_app =
        add(*snapshot_app, "create", "copy a sandbox and print the snapshot's id",
            looped([this](Context& context) { return snapshot_create(context, id, name); }));
    id_argument(*create_app);
    create_app->add_option("--name", name, "NAME or NAME:TAG; taken from the one that has it");
    CLI::App* ls_app =
        add(*snapshot_app, "ls", "list snapshots",
            looped([this](Context& context) { return snapshot_ls(context, snapshot_listing); }));
    ls_app->add_option("--sandbox", snapshot_listing.sandbox, "of this one only")->check(is_id);
    ls_app->add_option("--name", snapshot_listing.name, "of this name only");
    ls_app->add_flag("-q,--quiet", snapshot_listing.quiet, "ids only");
    CLI::App* rm_app = add(*snapshot_app, "rm", "remove snapshots; sandboxes made of them stay",
                           looped([this](Context& context) { return snapshot_rm(context, ids); }));
    rm_app->add_option("snapshots", ids, "ids or names")->required();
    CLI::App* retain_app =
        add(*snapshot_app, "retain", "say how long a snapshot is kept after its last use",
            looped([this](Context& context) { return snapshot_retain(context, name, life); }));
    retain_app->add_option("snapshot", name, "id or name")->required();
    add_parsed(*retain_app, "time", parse_keeping, life, "such as 90d, or forever")->required();
}

}  // namespace oyat::cli
