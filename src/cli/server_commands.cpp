#include <algorithm>
#include <boost/json/serialize.hpp>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/format.hpp"
#include "cli/json_read.hpp"
#include "cli/local_server.hpp"

// The server as a whole.
namespace oyat::cli {
namespace {

std::string joined(const boost::json::array& words) {
    std::string line;
    for (const boost::json::value& word : words) {
        if (!line.empty()) line += ", ";
        if (word.is_string()) line += printable({word.get_string().data(), word.get_string().size()});
    }
    return line;
}

void show_engines(const boost::json::value& info) {
    std::vector<std::vector<std::string>> rows{{"ENGINE", "AVAILABLE", "BOUNDARY", "CAN", "REASON"}};
    for (const boost::json::value& engine : list(info, "engines")) {
        rows.push_back({text(engine, "name"), flag(engine, "available") ? "yes" : "no",
                        text(engine, "boundary"), joined(list(engine, "capabilities")),
                        printable(text(engine, "reason"))});
    }
    print("\n" + show_table(rows));
}

// In the units of `oyat run`. What is not limited has 0 as its default and the greatest number as its most.
std::string amount(const boost::json::value& limit, std::string_view which) {
    const std::string name = text(limit, "name");
    const boost::json::value* value = member(limit, which);
    boost::system::error_code unbounded;
    const auto count = value == nullptr ? 0 : value->to_number<std::int64_t>(unbounded);
    if (count == 0 || unbounded) return "none";
    if (name == "cpu") return show_cpus(static_cast<std::uint64_t>(count));
    const bool counts_bytes = name == "memory" || name == "disk_bytes" || name == "io" || name == "bandwidth";
    return counts_bytes ? show_bytes(static_cast<std::uint64_t>(count)) : std::to_string(count);
}

void show_limits(const boost::json::value& info) {
    std::vector<std::vector<std::string>> rows{{"LIMIT", "HARD", "DEFAULT", "MAXIMUM", "BY"}};
    for (const boost::json::value& limit : list(info, "limits")) {
        rows.push_back({text(limit, "name"), flag(limit, "hard") ? "yes" : "no", amount(limit, "default"),
                        amount(limit, "maximum"), printable(text(limit, "mechanism"))});
    }
    print("\n" + show_table(rows));
}

void show_held(const boost::json::value& info) {
    std::vector<std::vector<std::string>> rows{{"", "SANDBOXES", "MOUNTS", "CGROUPS", "NETNS", "PROCESSES"}};
    for (const std::string_view name : {"held", "pooled"}) {
        const boost::json::value* counts = member(info, name);
        if (counts == nullptr) continue;
        std::vector<std::string> row{std::string{name}};
        for (const std::string_view what : {"sandboxes", "mounts", "cgroups", "netns", "processes"}) {
            row.push_back(std::to_string(number(*counts, what)));
        }
        rows.push_back(std::move(row));
    }
    print("\n" + show_table(rows));
}

}  // namespace

Task<int> status(Context& context) {
    const boost::json::value info = co_await context.client.get("/v1/info");
    if (context.json) {
        print(boost::json::serialize(info) + "\n");
        co_return 0;
    }
    print(context.paint.green("up") + "  oyat " + text(info, "version") + " at " +
          context.client.settings().url + ", kernel " + text(info, "kernel") + ", cgroups " +
          text(info, "cgroup") + "\n");
    if (flag(info, "stopped"))
        print(context.paint.red("stopped: all sandboxes are held, none is made") + "\n");
    if (flag(info, "egress_off")) print(context.paint.red("egress is off for all sandboxes") + "\n");
    show_engines(info);
    show_limits(info);
    show_held(info);
    co_return 0;
}

namespace {

Task<bool> answers(Context& context) {
    bool up = true;
    try {
        co_await context.client.get("/v1/info");
    } catch (const Failure& failure) {
        if (failure.code() != Errc::unavailable && failure.code() != Errc::deadline) throw;
        up = false;
    }
    co_return up;
}

Task<bool> has_base(Context& context) {
    const boost::json::value answer = co_await context.client.get("/v1/templates");
    co_return std::ranges::any_of(list(answer, "templates"), [](const boost::json::value& facts) {
        return text(facts, "name") == "base";
    });
}

// Lines to paste, for the E2B packages and for this program.
void show_environment(const Context& context) {
    const Settings& settings = context.client.settings();
    if (context.json) {
        print(boost::json::serialize(boost::json::object{{"url", settings.url}, {"apiKey", settings.key}}) +
              "\n");
        return;
    }
    print(context.paint.dim("# for the E2B packages, unchanged:") + "\nexport E2B_API_URL=" + settings.url +
          "\nexport E2B_SANDBOX_URL=" + settings.url + "\nexport E2B_API_KEY=" + settings.key + "\n");
    if (settings.url != Settings{}.url) {
        print(context.paint.dim("# for oyat itself:") + "\nexport OYAT_URL=" + settings.url +
              "\nexport OYAT_API_KEY=" + settings.key + "\n");
    }
}

}  // namespace

Task<int> up(Context& context, Server options) {
    LocalServer server{options};
    Settings settings = context.client.settings();
    settings.url = server.url(settings);
    if (const std::string key = server.key(); !key.empty()) settings.key = key;
    context.client = Client{std::move(settings)};
    if (co_await answers(context)) {
        print_to(STDERR_FILENO, "oyat: the server is up already\n");
    } else {
        co_await server.start(context);
    }
    if (!options.without_template && !co_await has_base(context)) {
        print_to(STDERR_FILENO, "oyat: making the template 'base', once; this takes some minutes\n");
        server.make_base_template();
        if (!co_await has_base(context)) {
            throw Failure{Error{Errc::internal, Fault::image,
                                "the template 'base' was made, but the server does not see it"},
                          "see the log of oyat-keeper"};
        }
    }
    show_environment(context);
    co_return 0;
}

Task<int> down(Context& context, Server options) {
    LocalServer server{options};
    const bool stopped = co_await server.stop();
    if (context.json) {
        print(stopped ? "{\"stopped\":true}\n" : "{\"stopped\":false}\n");
    } else {
        print_to(STDERR_FILENO,
                 stopped ? std::string{"oyat: stopped; sandboxes stay and are found again by 'oyat up'\n"}
                         : "oyat: no server that 'oyat up' started runs on " + options.state + "\n");
    }
    co_return stopped ? 0 : kFailed;
}

}  // namespace oyat::cli
