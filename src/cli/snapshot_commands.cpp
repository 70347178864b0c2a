#include <boost/json/serialize.hpp>
#include <iostream>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/format.hpp"
#include "cli/json_read.hpp"
#include "http/url.hpp"

// Commands about copies of sandboxes: snapshots, forks, and the way back.
namespace oyat::cli {
namespace {

void show_json(const boost::json::value& value) {
    print(boost::json::serialize(value) + "\n");
}

std::string path_of(const std::string& snapshot) {
    return "/v1/snapshots/" + http::percent_encode(snapshot);
}

std::string or_dash(std::string text) {
    return text.empty() ? "-" : printable(std::move(text));
}

}  // namespace

Task<int> snapshot_create(Context& context, std::string id, std::string name) {
    boost::json::object body;
    if (!name.empty()) body["name"] = name;
    const boost::json::value made =
        co_await context.client.post("/v1/sandboxes/" + id + "/snapshots", std::move(body));
    if (context.json) {
        show_json(made);
    } else {
        print(text(made, "id") + "\n");
    }
    co_return 0;
}

Task<int> snapshot_ls(Context& context, SnapshotListing options) {
    std::string path = "/v1/snapshots?sandbox=" + http::percent_encode(options.sandbox) +
                       "&name=" + http::percent_encode(options.name);
    const boost::json::value answer = co_await context.client.get(std::move(path));
    if (context.json) {
        show_json(answer);
        co_return 0;
    }
    const WallTime now = SystemClock{}.wall();
    std::vector<std::vector<std::string>> rows;
    if (!options.quiet)
        rows.push_back({"ID", "NAME", "SANDBOX", "TEMPLATE", "KEEPS", "SIZE", "AGE", "EXPIRES IN"});
    for (const boost::json::value& each : list(answer, "snapshots")) {
        if (options.quiet) {
            rows.push_back({text(each, "id")});
            continue;
        }
        const std::string expires = text(each, "expires");
        const std::int64_t bytes = number(each, "disk_bytes") + number(each, "memory_bytes");
        rows.push_back({text(each, "id"), or_dash(text(each, "name")), text(each, "sandbox"),
                        printable(text(each, "template")), flag(each, "memory") ? "memory" : "disk",
                        show_bytes(static_cast<std::uint64_t>(bytes)), show_age(text(each, "created"), now),
                        expires.empty() ? "never" : show_until(expires, now)});
    }
    print(show_table(rows));
    co_return 0;
}

Task<int> snapshot_rm(Context& context, std::vector<std::string> snapshots) {
    boost::json::array removed;
    int code = 0;
    for (const std::string& each : snapshots) {
        try {
            co_await context.client.remove(path_of(each));
            removed.emplace_back(each);
            if (!context.json) print(each + "\n");
        } catch (const Failure& failure) {
            print_failure(failure, failure.hint(), context.json);
            code = kFailed;
        }
    }
    if (context.json) show_json(boost::json::object{{"removed", std::move(removed)}});
    co_return code;
}

Task<int> snapshot_retain(Context& context, std::string snapshot, Millis kept) {
    const boost::json::value answer =
        co_await context.client.post(path_of(snapshot) + "/retain", {{"kept_ms", kept.count()}});
    if (context.json) {
        show_json(answer);
    } else {
        const std::string expires = text(answer, "expires");
        print(expires.empty() ? "kept until it is removed\n" : "expires at " + expires + "\n");
    }
    co_return 0;
}

Task<int> fork(Context& context, std::string id, std::uint32_t count, std::optional<Millis> life) {
    boost::json::object body{{"count", count}};
    if (life) body["timeout_ms"] = life->count();
    const boost::json::value answer =
        co_await context.client.post("/v1/sandboxes/" + id + "/fork", std::move(body));
    if (context.json) show_json(answer);
    int code = 0;
    for (const boost::json::value& each : list(answer, "forks")) {
        if (const boost::json::value* made = member(each, "sandbox")) {
            if (!context.json) print(text(*made, "id") + "\n");
            continue;
        }
        code = kFailed;
        const boost::json::value* error = member(each, "error");
        if (!context.json && error != nullptr)
            std::cerr << "oyat: " << printable(text(*error, "message")) << "\n";
    }
    co_return code;
}

Task<int> reset(Context& context, std::string id, std::string snapshot) {
    boost::json::object body;
    if (!snapshot.empty()) body["snapshot"] = snapshot;
    const boost::json::value answer =
        co_await context.client.post("/v1/sandboxes/" + id + "/reset", std::move(body));
    if (context.json) show_json(answer);
    co_return 0;
}

}  // namespace oyat::cli
