#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>

#include "base/throwing.hpp"
#include "base/units.hpp"
#include "policy/document.hpp"
#include "policy/document_fields.hpp"
#include "policy/idna.hpp"
#include "policy/source_tree.hpp"
#include "policy/vocabulary.hpp"

namespace oyat::policy {
namespace {

constexpr std::array<std::string_view, 6> kFields{"preset", "default",       "rule",
                                                  "bypass", "write_methods", "install_window"};
constexpr std::string_view kCategories[] = {"package-registries", "git", "public-web", "internal-apis",
                                            "webhooks"};
constexpr std::size_t kMaxId = 64, kMaxNote = 256, kMaxMethod = 32;

constexpr Word<Action> kActions[] = {
    {"allow", Action::allow}, {"observe", Action::observe}, {"ask", Action::ask}, {"deny", Action::deny}};
constexpr Word<Protocol> kProtocols[] = {{"any", Protocol::any},
                                         {"tcp", Protocol::tcp},
                                         {"tls", Protocol::tls},
                                         {"http", Protocol::http},
                                         {"https", Protocol::https}};
constexpr Word<Strength> kStrengths[] = {{"cidr", Strength::cidr},
                                         {"pin", Strength::pin},
                                         {"sni+pin", Strength::sni_pin},
                                         {"synthetic", Strength::synthetic},
                                         {"authority", Strength::authority}};

// "*.bücher.example": the wildcard stays, the name becomes what DNS knows.
Result<HostPattern> parse_host(std::string_view text) {
    std::string_view wildcard;
    for (const std::string_view form : {"**.", "*."}) {
        if (wildcard.empty() && text.starts_with(form)) wildcard = form;
    }
    Result<std::string> name = to_a_labels(text.substr(wildcard.size()));
    if (!name) return std::unexpected{std::move(name).error()};
    return HostPattern::parse(std::string{wildcard} + *name);
}

bool is_token(std::string_view text, std::string_view also) {
    return !text.empty() && std::ranges::all_of(text, [&](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               also.find(c) != std::string_view::npos;
    });
}

class Reader {
public:
    explicit Reader(const Vocabulary& words) : words_{words} {}

    Document document(SourceTree tree) {
        Fields fields{tree.root, {}, tree.places};
        if (tree.root.empty()) {
            throw Error{Errc::invalid_argument, "empty policy; say default = \"deny\" or \"allow\""};
        }
        made_.preset = fields.text("preset").value_or("");
        const std::optional<Action> fallback = fields.word("default", kActions);
        fields.each_text("bypass", [&](const std::string& field, std::string_view text) {
            made_.bypass.push_back(fields.accept(field, parse_host(text)));
        });
        made_.install_window = fields.flag("install_window");
        write_methods(fields);
        rules(fields);
        fields.done();
        preset(fields, fallback);
        made_.source = json::serialize(tree.root);
        return std::move(made_);
    }

private:
    void rules(Fields& fields) {
        const json::value* list = fields.find("rule");
        if (list == nullptr) return;
        if (!list->is_array()) fields.mistake("rule", "a list of rules is expected");
        if (const std::size_t count = list->get_array().size(); count > Document::kMaxRules) {
            fields.mistake("rule", std::to_string(count) + " rules; a document holds at most " +
                                       std::to_string(Document::kMaxRules));
        }
        for (std::size_t at = 0; at < list->get_array().size(); ++at) {
            Fields inner = fields.inner("rule[" + std::to_string(at) + "]", list->get_array()[at]);
            made_.rules.push_back(rule(inner));
        }
    }

    Rule rule(Fields& fields) {
        Rule made;
        made.id = fields.text("id", kMaxId).value_or("");
        if (!is_token(made.id, "-_."))
            fields.mistake("id", "a rule has a name of letters, digits, '-', '_', '.'");
        if (!ids_.insert(made.id).second) fields.mistake("id", "another rule is called '" + made.id + "'");
        const std::optional<Action> action = fields.word("action", kActions);
        if (!action) fields.mistake("action", "is missing: allow, observe, ask or deny");
        made.action = *action;
        made.category = fields.text("category").value_or("public-web");
        if (std::ranges::find(kCategories, made.category) == std::end(kCategories)) {
            fields.mistake("category",
                           "not one of package-registries, git, public-web, internal-apis, webhooks");
        }
        hosts(fields, made);
        fields.each_text("cidr", [&](const std::string& field, std::string_view text) {
            made.cidrs.push_back(fields.accept(field, Cidr::parse(text)));
        });
        ports(fields, made);
        if (fields.text("protocol") == "udp") {
            fields.mistake("protocol", "no UDP leaves a sandbox, so there is no rule for it");
        }
        made.protocol = fields.word("protocol", kProtocols).value_or(Protocol::any);
        requests(fields, made);
        made.require = fields.word("require", kStrengths).value_or(Strength::cidr);
        made.up_bytes = fields.bytes("up_bytes");
        made.down_bytes = fields.bytes("down_bytes");
        made.connections = fields.count("connections");
        made.requests_per_second = fields.count("rps");
        if (const auto text = fields.text("expires"))
            made.expires = fields.accept("expires", parse_rfc3339(*text));
        made.note = fields.text("note", kMaxNote).value_or("");
        fields.done();
        return made;
    }

    void hosts(Fields& fields, Rule& rule) {
        fields.each_text("host", [&](const std::string& field, std::string_view text) {
            if (!text.starts_with('@')) {
                rule.hosts.push_back(fields.accept(field, parse_host(text)));
            } else if (const auto* set = words_.hosts(text)) {
                rule.hosts.insert(rule.hosts.end(), set->begin(), set->end());
            } else {
                fields.mistake(field, "there is no set '" + std::string{text} +
                                          "'; there are @registries and @git-hosts");
            }
            if (count_hosts_ + rule.hosts.size() > Document::kMaxHosts)
                fields.mistake(field,
                               "more than " + std::to_string(Document::kMaxHosts) + " hosts in one document");
        });
        count_hosts_ += rule.hosts.size();
    }

    void ports(Fields& fields, Rule& rule) {
        fields.each("port", [&](const std::string& field, const json::value& value) {
            PortRange range;
            if (value.is_string()) {
                const std::string_view text = value.get_string();
                const std::size_t dash = text.find('-');
                range = {.first = port(fields, field, text.substr(0, dash)), .last = 0};
                range.last =
                    dash == std::string_view::npos ? range.first : port(fields, field, text.substr(dash + 1));
                if (range.last < range.first) fields.mistake(field, "a range begins with its smaller port");
            } else {
                range.first = range.last =
                    port(fields, field, value.is_int64() ? std::to_string(value.get_int64()) : "");
            }
            rule.ports.push_back(range);
        });
    }
    static std::uint16_t port(const Fields& fields, const std::string& field, std::string_view text) {
        std::uint16_t number = 0;
        const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (failed != std::errc{} || end != text.data() + text.size() || number == 0)
            fields.mistake(field, "a port from 1 to 65535, or a range like \"3000-3999\", is expected");
        return number;
    }

    void requests(Fields& fields, Rule& rule) {
        fields.each_text("method", [&](const std::string& field, std::string_view text) {
            // Methods are case-sensitive (RFC 9110, 9.1), and no server knows "get".
            if (!is_token(text, "-") || text.size() > kMaxMethod ||
                std::ranges::any_of(text, [](char c) { return c >= 'a' && c <= 'z'; }))
                fields.mistake(field, "a method in capital letters is expected");
            rule.methods.emplace_back(text);
        });
        fields.each_text("path", [&](const std::string& field, std::string_view text) {
            paths(fields, field, text, rule);
        });
        fields.each_text("ref", [&](const std::string& field, std::string_view text) {
            if (!text.starts_with("refs/"))
                fields.mistake(field, "a ref in full is expected, like \"refs/heads/agent/**\"");
            rule.refs.push_back(fields.accept(field, Glob::parse(text)));
        });
        count_paths_ += rule.paths.size() + rule.refs.size();
        if (count_paths_ > Document::kMaxPaths)
            fields.mistake("ref", "more than " + std::to_string(Document::kMaxPaths) +
                                      " paths and refs in one document");
        if (!rule.reads_requests()) return;
        if (rule.protocol == Protocol::tcp) {
            fields.mistake("protocol", "method, path and ref are those of HTTP requests");
        }
        for (const HostPattern& unread : made_.bypass) {
            for (const HostPattern& host : rule.hosts) {
                if (host.covers(unread) || unread.covers(host))
                    fields.mistake("host", "'" + host.text() +
                                               "' is in bypass, so its requests are not read: no method, "
                                               "path or ref can be asked for");
            }
        }
    }

    void paths(Fields& fields, const std::string& field, std::string_view text, Rule& rule) {
        const std::size_t at = text.find('@');
        if (at == std::string_view::npos || (at != 0 && text[at - 1] != '/')) {
            rule.paths.push_back(fields.accept(field, PathPattern::parse(text)));
        } else if (const auto* set = words_.paths(text.substr(at))) {
            // "@git-read" is anywhere, "/acme/shop.git/@git-read" below that path.
            const std::string below{at == 0 ? std::string_view{"/**"} : text.substr(0, at - 1)};
            for (const std::string& end : *set)
                rule.paths.push_back(fields.accept(field, PathPattern::parse(below + end)));
        } else {
            fields.mistake(field, "there is no set '" + std::string{text.substr(at)} +
                                      "'; there are @git-read and @git-write");
        }
        if (count_paths_ + rule.paths.size() > Document::kMaxPaths)
            fields.mistake(field,
                           "more than " + std::to_string(Document::kMaxPaths) + " paths in one document");
    }

    // In front of everything that allows: what would write, wherever requests are read anyway.
    void write_methods(Fields& fields) {
        const std::optional<Action> action = fields.word("write_methods", kActions);
        if (!action) return;
        if (*action != Action::ask && *action != Action::deny) fields.mistake("write_methods", "ask or deny");
        Rule rule{.id = "write-methods", .category = "webhooks", .action = *action};
        rule.methods = {"POST", "PUT", "PATCH", "DELETE"};
        rule.only_when_read = true;
        ids_.insert(rule.id);
        made_.rules.push_back(std::move(rule));
    }

    void preset(Fields& fields, std::optional<Action> fallback) {
        const bool none = made_.preset.empty() || made_.preset == "custom";
        if (none && !fallback) fields.mistake("default", "is missing; say default = \"deny\" or \"allow\"");
        if (!none) {
            const DocumentPtr chosen = words_.preset(made_.preset);
            if (!chosen)
                fields.mistake("preset",
                               "not one of offline, packages-only, git-read-only, public-web, open, custom");
            made_.rules.insert(made_.rules.end(), chosen->rules.begin(), chosen->rules.end());
            made_.fallback = chosen->fallback;
        }
        if (fallback) made_.fallback = *fallback;
    }

    const Vocabulary& words_;
    Document made_;
    std::set<std::string, std::less<>> ids_;
    std::size_t count_hosts_ = 0, count_paths_ = 0;
};

Result<Document> read(Result<SourceTree> tree, const Vocabulary& words) {
    if (!tree) return std::unexpected{std::move(tree).error()};
    try {
        return Reader{words}.document(*std::move(tree));
    } catch (Error& error) {
        return std::unexpected{std::move(error)};
    }
}

// Before anything is parsed, so that a large text costs nothing.
std::optional<Error> too_large(std::string_view text) {
    if (text.size() <= Document::kMaxBytes) return std::nullopt;
    return Error{Errc::invalid_argument,
                 "a policy of " + std::to_string(text.size()) + " bytes; at most 64 KiB"};
}

}  // namespace

Result<Document> document_from_json(std::string_view text, const Vocabulary& words) {
    if (auto refusal = too_large(text)) return std::unexpected{*std::move(refusal)};
    return read(read_json(text), words);
}

Result<Document> document_from_toml(std::string_view text, const Vocabulary& words) {
    if (auto refusal = too_large(text)) return std::unexpected{*std::move(refusal)};
    return read(read_toml(text), words);
}

Result<DocumentPtr> document_from_section(std::string_view toml, std::string_view table,
                                          const Vocabulary& words) {
    Result<SourceTree> tree = read_toml(toml, table);
    if (!tree) return std::unexpected{std::move(tree).error()};
    for (auto at = tree->root.begin(); at != tree->root.end();)
        at = is_document_field(at->key()) ? at + 1 : tree->root.erase(at);
    if (tree->root.empty()) return DocumentPtr{};
    Result<Document> document = read(std::move(tree), words);
    if (!document) return std::unexpected{std::move(document).error()};
    return std::make_shared<const Document>(*std::move(document));
}

Result<Document> document_from(json::object values, const Vocabulary& words) {
    if (auto refusal = too_large(json::serialize(values))) return std::unexpected{*std::move(refusal)};
    return read(SourceTree{.root = std::move(values), .places = {}}, words);
}

json::object to_json(const Document& document) {
    return json::parse(document.source).get_object();
}

bool is_document_field(std::string_view name) {
    return std::ranges::find(kFields, name) != kFields.end();
}

}  // namespace oyat::policy
