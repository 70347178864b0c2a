#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "cli/commands.hpp"
#include "cli/format.hpp"
#include "cli/json_read.hpp"
#include "http/url.hpp"

namespace oyat::cli {
namespace {

std::string for_tenant(const std::string& tenant) {
    return tenant.empty() ? "" : "?tenant=" + http::percent_encode(tenant);
}

std::string joined(const boost::json::array& words) {
    std::string line;
    for (const boost::json::value& word : words) {
        if (!line.empty()) line += ",";
        if (word.is_string()) line += std::string{word.get_string().data(), word.get_string().size()};
    }
    return line;
}

}  // namespace

Task<int> key_create(Context& context, std::string name, std::string tenant,
                     std::vector<std::string> scopes) {
    boost::json::object body{{"name", name}, {"scopes", boost::json::array(scopes.begin(), scopes.end())}};
    if (!tenant.empty()) body["tenant"] = tenant;
    const boost::json::value made = co_await context.client.post("/v1/keys", std::move(body));
    if (context.json) {
        print(boost::json::serialize(made) + "\n");
        co_return 0;
    }
    print(text(made, "key") + "\n");
    print_to(STDERR_FILENO, "oyat: " + text(made, "id") + "; the key is shown this once\n");
    co_return 0;
}

Task<int> key_ls(Context& context, std::string tenant) {
    const boost::json::value answer = co_await context.client.get("/v1/keys" + for_tenant(tenant));
    if (context.json) {
        print(boost::json::serialize(answer) + "\n");
        co_return 0;
    }
    std::vector<std::vector<std::string>> rows{{"ID", "NAME", "TENANT", "SCOPES", "CREATED", "STATE"}};
    for (const boost::json::value& key : list(answer, "keys")) {
        rows.push_back({text(key, "id"), printable(text(key, "name")), text(key, "tenant"),
                        joined(list(key, "scopes")), text(key, "created"),
                        flag(key, "revoked") ? "revoked" : "valid"});
    }
    print(show_table(rows));
    co_return 0;
}

Task<int> key_revoke(Context& context, std::string id, std::string tenant) {
    co_await context.client.remove("/v1/keys/" + http::percent_encode(id) + for_tenant(tenant));
    if (context.json) print(boost::json::serialize(boost::json::object{{"revoked", id}}) + "\n");
    co_return 0;
}

}  // namespace oyat::cli
