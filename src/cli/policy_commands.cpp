#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <map>
#include <set>

#include "base/throwing.hpp"
#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/format.hpp"
#include "cli/json_read.hpp"
#include "cli/policy_file.hpp"
#include "policy/names.hpp"
#include "policy/vocabulary.hpp"

// Commands about the way out of sandboxes.
namespace oyat::cli {
namespace {

namespace json = boost::json;

void show_json(const json::value& value) {
    print(json::serialize(value) + "\n");
}

// One line a rule: what it is about, in the words of the document.
std::string criteria_of(const json::object& rule) {
    std::string all;
    for (const auto& [name, value] : rule) {
        if (name == "id" || name == "action" || name == "category" || name == "note") continue;
        all += (all.empty() ? "" : ", ") + std::string{name} + " " + json::serialize(value);
    }
    return printable(all);
}

void add_rows(std::vector<std::vector<std::string>>& rows, const std::string& layer,
              const json::value& document) {
    for (const json::value& rule : list(document, "rule"))
        rows.push_back(
            {layer, printable(text(rule, "id")), text(rule, "action"), criteria_of(rule.as_object())});
    for (const char* word : {"preset", "default", "write_methods"}) {
        if (const std::string value = text(document, word); !value.empty())
            rows.push_back({layer, word, value, ""});
    }
}

// Each name (or address) that connections or questions of the sandbox went to, with the ports.
using Asked = std::map<std::string, std::set<std::int64_t>>;

void note_asked(std::string_view line, Asked& asked) {
    boost::system::error_code broken;
    const json::value event = json::parse(line, broken);
    if (broken || event.is_null()) return;
    const std::string type = text(event, "type");
    if (type != "connect.allowed" && type != "connect.denied") return;
    const json::value* fields = member(event, "fields");
    const json::value& from = fields != nullptr ? *fields : event;
    std::string host = text(from, "host");
    if (host.empty()) host = text(from, "addr");
    if (!host.empty()) asked[host].insert(number(from, "port"));
}

std::string suggestion(const Asked& asked) {
    std::string toml =
        "# What the sandbox asked for, each host with the ports it used. Look at each line before you keep "
        "it.\n"
        "default = \"deny\"\n";
    std::size_t count = 0;
    for (const auto& [host, ports] : asked) {
        const bool name = policy::canonical_host(host).has_value();
        if (!name && !IpAddress::parse(host)) continue;  // neither: nothing that a rule could say
        std::string list;
        for (const std::int64_t port : ports) list += (list.empty() ? "" : ", ") + std::to_string(port);
        toml += "\n[[rule]]\nid = \"asked-" + std::to_string(++count) + "\"\naction = \"allow\"\n" +
                (name ? "host" : "cidr") + " = [\"" + host + "\"]\nport = [" + list + "]\n";
    }
    return toml;
}

}  // namespace

Task<int> policy_show(Context& context, std::optional<std::string> id) {
    json::array layers;
    json::value answer;
    if (id) {
        answer = co_await context.client.get("/v1/sandboxes/" + *id + "/policy");
        layers = list(answer, "layers");
    } else {
        layers.push_back(co_await context.client.get("/v1/server/policy"));
        layers.push_back(co_await context.client.get("/v1/tenants/self/policy"));
        answer = json::object{{"layers", layers}};
    }
    if (context.json) {
        show_json(answer);
        co_return 0;
    }
    std::vector<std::vector<std::string>> rows{{"LAYER", "RULE", "ACTION", "WHAT"}};
    for (const json::value& layer : layers) {
        if (const json::value* document = member(layer, "document");
            document != nullptr && document->is_object())
            add_rows(rows, text(layer, "layer"), *document);
    }
    print(show_table(rows));
    if (id) print("generation " + std::to_string(number(answer, "generation")) + "\n");
    co_return 0;
}

Task<int> policy_test(Context& context, std::string file) {
    const json::value answer = co_await context.client.post("/v1/policies:check", policy_document(file, {}));
    if (context.json) {
        show_json(answer);
        co_return 0;
    }
    print(std::to_string(number(answer, "rules")) + " rules, then " + text(answer, "default") + "\n");
    for (const json::value& remark : list(answer, "remarks"))
        print(printable(text(remark, "rule") + ": " + text(remark, "sentence")) + "\n");
    co_return 0;
}

Task<int> policy_set(Context& context, std::string target, std::string file, std::string preset) {
    if (file.empty() && preset.empty()) {
        throw Failure{Error{Errc::invalid_argument, Fault::client, "a file or --preset is missing"},
                      "'oyat policy ready' lists policies to start from"};
    }
    const std::string path =
        target == "tenant" ? "/v1/tenants/self/policy" : "/v1/sandboxes/" + target + "/policy";
    const json::value change = co_await context.client.put(path, policy_document(file, preset));
    if (context.json) {
        show_json(change);
        co_return 0;
    }
    std::string line = std::to_string(number(change, "cut")) + " connections cut";
    if (member(change, "generation") != nullptr)
        line = "generation " + std::to_string(number(change, "generation")) + ", " + line;
    print(line + "\n");
    co_return 0;
}

Task<int> policy_explain(Context& context, PolicyQuestion question) {
    json::object connect{{"port", question.port}};
    connect[IpAddress::parse(question.host) ? "address" : "host"] = question.host;
    if (!question.method.empty()) connect["method"] = question.method;
    if (!question.path.empty()) connect["path"] = question.path;
    if (!question.ref.empty()) connect["ref"] = question.ref;
    const json::value answer = co_await context.client.post(
        "/v1/sandboxes/" + question.id + "/policy:explain", {{"connect", std::move(connect)}});
    if (context.json) {
        show_json(answer);
    } else {
        print(text(answer, "verdict") + " by rule " + printable(text(answer, "rule")) + " (" +
              text(answer, "layer") + "), generation " + std::to_string(number(answer, "generation")) + "\n");
    }
    co_return 0;
}

Task<int> policy_suggest(Context& context, std::string id) {
    Asked asked;
    co_await context.client.lines("/v1/events?limit=10000&type=connect.&sandbox=" + id,
                                  [&](std::string_view line) { note_asked(line, asked); });
    const std::string toml = suggestion(asked);
    if (context.json) {
        const policy::Vocabulary words;
        show_json(to_json(or_throw(policy::document_from_toml(toml, words))));
    } else {
        print(toml);
    }
    co_return 0;
}

int policy_ready(Context& context, std::string name) {
    std::vector<std::vector<std::string>> rows{{"NAME", "PURPOSE"}};
    const policy::Vocabulary words;
    json::object all;
    for (const policy::ReadyPolicy& ready : policy::ready_policies()) {
        const json::object document = to_json(or_throw(policy::document_from_toml(ready.toml, words)));
        if (ready.name == name) {
            context.json ? show_json(document) : print(std::string{ready.toml});
            return 0;
        }
        all[ready.name] = document;
        rows.push_back({std::string{ready.name}, std::string{ready.purpose}});
    }
    if (!name.empty()) {
        throw Failure{Error{Errc::not_found, Fault::client, "there is no ready policy '" + name + "'"},
                      "'oyat policy ready' lists them"};
    }
    context.json ? show_json(all) : print(show_table(rows));
    return 0;
}

Task<int> denied(Context& context, std::string id) {
    const json::value answer = co_await context.client.get("/v1/sandboxes/" + id + "/denied");
    if (context.json) {
        show_json(answer);
        co_return 0;
    }
    std::vector<std::vector<std::string>> rows{{"COUNT", "HOST", "PORT", "REASON", "LAST"}};
    for (const json::value& entry : list(answer, "denied")) {
        rows.push_back({std::to_string(number(entry, "count")), printable(text(entry, "host")),
                        std::to_string(number(entry, "port")), printable(text(entry, "reason")),
                        text(entry, "last")});
    }
    print(show_table(rows));
    co_return 0;
}

}  // namespace oyat::cli
