#include <boost/json/serialize.hpp>

#include "cli/commands.hpp"
#include "cli/format.hpp"
#include "cli/json_read.hpp"
#include "http/url.hpp"

// What came into a sandbox, and by which command.
namespace oyat::cli {
namespace {

std::string joined(const boost::json::value& package, std::string_view member) {
    std::string all;
    for (const boost::json::value& each : list(package, member)) {
        if (!all.empty()) all += ' ';
        if (each.is_string()) all.append(each.get_string().data(), each.get_string().size());
    }
    return all.empty() ? "-" : printable(all);
}

}  // namespace

Task<int> packages(Context& context, std::string id) {
    const boost::json::value answer =
        co_await context.client.get("/v1/sandboxes/" + http::percent_encode(id) + "/packages");
    if (context.json) {
        print(boost::json::serialize(answer) + "\n");
        co_return 0;
    }
    std::vector<std::vector<std::string>> rows{{"ECOSYSTEM", "NAME", "VERSION", "FROM", "COMMAND"}};
    for (const boost::json::value& package : list(answer, "packages")) {
        rows.push_back({text(package, "ecosystem"), printable(text(package, "name")),
                        printable(text(package, "version")), joined(package, "source"),
                        joined(package, "commands")});
    }
    print(show_table(rows));
    if (!flag(answer, "complete")) print("There is more than a look takes in.\n");
    co_return 0;
}

}  // namespace oyat::cli
