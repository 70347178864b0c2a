#include <boost/json/serialize.hpp>
#include <chrono>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/format.hpp"
#include "cli/json_read.hpp"
#include "cli/new_sandbox.hpp"
#include "cli/policy_file.hpp"
#include "http/url.hpp"
#include "io/timer.hpp"

// Commands about the life of sandboxes.
namespace oyat::cli {
namespace {

WallTime now() {
    return SystemClock{}.wall();
}

void show_json(const boost::json::value& value) {
    print(boost::json::serialize(value) + "\n");
}

boost::json::object object_of(const std::vector<std::pair<std::string, std::string>>& pairs) {
    boost::json::object object;
    for (const auto& [name, value] : pairs) object[name] = value;
    return object;
}

std::string short_digest(const std::string& digest) {
    const std::size_t colon = digest.find(':');
    return digest.substr(colon == std::string::npos ? 0 : colon + 1, 12);
}

std::string state_of(const boost::json::value& sandbox) {
    const std::string state = text(sandbox, "state");
    if (flag(sandbox, "held")) return "held";
    return state == "ended" ? "ended (" + text(sandbox, "ended_by") + ")" : state;
}

std::string remaining(const boost::json::value& sandbox) {
    const std::string until = text(sandbox, "end_at");
    if (until.empty() || text(sandbox, "state") != "running") return "-";
    return show_until(until, now());
}

}  // namespace

Task<boost::json::value> make_sandbox(Context& context, NewSandbox options) {
    boost::json::object limits;
    if (options.memory) limits["memory_bytes"] = *options.memory;
    if (options.disk) limits["disk_bytes"] = *options.disk;
    if (options.cpu_millis) limits["cpu_millis"] = *options.cpu_millis;
    boost::json::object body{{"template", options.base},
                             {"limits", std::move(limits)},
                             {"env", object_of(options.env)},
                             {"metadata", object_of(options.metadata)},
                             {"internet", !options.no_internet}};
    if (!options.policy_file.empty() || !options.preset.empty())
        body["policy"] = policy_document(options.policy_file, options.preset);
    if (options.timeout) body["timeout_ms"] = options.timeout->count();
    if (!options.isolation.empty()) body["isolation"] = options.isolation;
    if (!options.minimum_boundary.empty()) body["minimum_boundary"] = options.minimum_boundary;
    co_return co_await context.client.post("/v1/sandboxes", std::move(body));
}

Task<int> create(Context& context, NewSandbox options) {
    const boost::json::value made = co_await make_sandbox(context, std::move(options));
    if (context.json) {
        show_json(made);
    } else {
        print(text(made, "id") + "\n");
    }
    co_return 0;
}

Task<int> ls(Context& context, Listing options) {
    std::string path = "/v1/sandboxes";
    char separator = '?';
    for (const std::string& state : options.states) {
        path += separator + ("state=" + http::percent_encode(state));
        separator = '&';
    }
    const boost::json::value answer = co_await context.client.get(std::move(path));
    if (context.json) {
        show_json(answer);
        co_return 0;
    }
    std::vector<std::vector<std::string>> rows;
    if (!options.quiet) rows.push_back({"ID", "STATE", "TEMPLATE", "BOUNDARY", "AGE", "ENDS IN", "BY"});
    for (const boost::json::value& sandbox : list(answer, "sandboxes")) {
        if (options.quiet) {
            rows.push_back({text(sandbox, "id")});
            continue;
        }
        rows.push_back({text(sandbox, "id"), state_of(sandbox), printable(text(sandbox, "template")),
                        text(sandbox, "boundary"), show_age(text(sandbox, "created"), now()),
                        remaining(sandbox), printable(text(sandbox, "client"))});
    }
    print(show_table(rows));
    co_return 0;
}

Task<int> kill(Context& context, std::vector<std::string> ids, bool all) {
    boost::json::array ended;
    if (all) {
        const boost::json::value answer = co_await context.client.get("/v1/sandboxes");
        for (const boost::json::value& sandbox : list(answer, "sandboxes"))
            ids.push_back(text(sandbox, "id"));
    }
    int code = 0;
    for (const std::string& id : ids) {
        try {
            co_await context.client.remove("/v1/sandboxes/" + http::percent_encode(id));
            ended.emplace_back(id);
            if (!context.json) print(id + "\n");
        } catch (const Failure& failure) {
            print_failure(failure, failure.hint(), context.json);
            code = kFailed;
        }
    }
    if (context.json) show_json(boost::json::object{{"ended", std::move(ended)}});
    co_return code;
}

Task<int> pause(Context& context, std::string id, std::string keep) {
    co_await context.client.post("/v1/sandboxes/" + id + "/pause", {{"keep", keep}});
    if (context.json) show_json(co_await context.client.get("/v1/sandboxes/" + id));
    co_return 0;
}

Task<int> resume(Context& context, std::string id, std::string from) {
    const boost::json::value answer =
        co_await context.client.post("/v1/sandboxes/" + id + "/resume", {{"from", from}});
    if (context.json) show_json(co_await context.client.get("/v1/sandboxes/" + id));
    if (!context.json && text(answer, "resumed_from") == "disk")
        print("started anew from its files: no process of before the pause runs\n");
    co_return 0;
}

Task<int> timeout(Context& context, std::string id, Millis timeout) {
    const boost::json::value answer = co_await context.client.post(
        "/v1/sandboxes/" + http::percent_encode(id) + "/timeout", {{"timeout_ms", timeout.count()}});
    if (context.json) {
        show_json(answer);
    } else {
        print("ends at " + text(answer, "end_at") + "\n");
    }
    co_return 0;
}

namespace {

std::string top_table(const boost::json::value& answer) {
    std::vector<std::vector<std::string>> rows{
        {"ID", "STATE", "CPU %", "MEMORY", "LIMIT", "PROCESSES", "DISK", "THROTTLED"}};
    for (const boost::json::value& sandbox : list(answer, "sandboxes")) {
        const boost::json::value* usage = member(sandbox, "usage");
        if (usage == nullptr || usage->is_null()) {
            rows.push_back({text(sandbox, "id"), text(sandbox, "state"), "-", "-", "-", "-", "-", "-"});
            continue;
        }
        const auto bytes = [&](std::string_view name) {
            return show_bytes(static_cast<std::uint64_t>(number(*usage, name)));
        };
        rows.push_back({text(sandbox, "id"), text(sandbox, "state"),
                        std::to_string(static_cast<int>(fraction(sandbox, "cpu_percent") + 0.5)),
                        bytes("memory_now"), bytes("memory_limit"),
                        std::to_string(number(*usage, "processes")), bytes("disk_used"),
                        show_duration(Millis{number(*usage, "throttled_us") / 1000})});
    }
    return show_table(rows);
}

}  // namespace

Task<int> top(Context& context, bool once) {
    const bool live = !once && !context.json && ::isatty(STDOUT_FILENO) == 1;
    for (;;) {
        const boost::json::value answer = co_await context.client.get("/v1/usage");
        if (context.json) show_json(answer);
        if (!context.json) print((live ? "\x1b[H\x1b[2J" : "") + top_table(answer));
        if (!live) co_return 0;
        co_await sleep_for(std::chrono::seconds{2});
    }
}

namespace {

std::string made_of(const boost::json::value& sandbox) {
    const std::string snapshot = text(sandbox, "snapshot"), parent = text(sandbox, "parent");
    if (snapshot.empty()) return "its template";
    return "snapshot " + snapshot + (parent.empty() ? "" : " of " + parent);
}

void show_sandbox(const Context& context, const boost::json::value& sandbox) {
    const boost::json::value* limits = member(sandbox, "limits");
    const boost::json::value none;
    const auto limit = [&](std::string_view name) {
        return static_cast<std::uint64_t>(number(limits == nullptr ? none : *limits, name));
    };
    std::vector<std::vector<std::string>> rows{
        {"state", state_of(sandbox)},
        {"template",
         printable(text(sandbox, "template")) + "  " + short_digest(text(sandbox, "template_digest"))},
        {"boundary", text(sandbox, "boundary") + "  (" + text(sandbox, "engine") + ", kernel " +
                         text(sandbox, "kernel") + ")"},
        {"internet", flag(sandbox, "egress_off") ? "cut off"
                     : flag(sandbox, "internet") ? "yes"
                                                 : "no"},
        {"memory", show_bytes(limit("memory_bytes"))},
        {"cpu", show_cpus(limit("cpu_millis"))},
        {"processes", std::to_string(limit("processes"))},
        {"disk", show_bytes(limit("disk_bytes")) + ", " + std::to_string(limit("disk_inodes")) +
                     " files  (by " + text(sandbox, "disk_limit_by") + ")"},
        {"made of", made_of(sandbox)},
        {"created", text(sandbox, "created") + "  by " + text(sandbox, "key") + ", " +
                        printable(text(sandbox, "client"))},
        {"ends", text(sandbox, "end_at")}};
    if (text(sandbox, "state") == "ended") {
        rows.back() = {"ended", text(sandbox, "ended_at") + "  " + printable(text(sandbox, "ended_detail"))};
    }
    if (const boost::json::value* phases = member(sandbox, "phases_us");
        phases != nullptr && phases->is_object()) {
        std::string line;
        for (const auto& [name, micros] : phases->get_object()) {
            line += (line.empty() ? "" : ", ") + std::string{name} + " " +
                    std::to_string(number(*phases, name)) + " µs";
        }
        rows.push_back({"phases", line});
    }
    print(context.paint.bold(text(sandbox, "id")) + "\n" + show_table(rows));
}

}  // namespace

Task<int> info(Context& context, std::optional<std::string> id) {
    if (!id) co_return co_await status(context);
    const boost::json::value sandbox =
        co_await context.client.get("/v1/sandboxes/" + http::percent_encode(*id));
    if (context.json) {
        show_json(sandbox);
    } else {
        show_sandbox(context, sandbox);
    }
    co_return 0;
}

}  // namespace oyat::cli
