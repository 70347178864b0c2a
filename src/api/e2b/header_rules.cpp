#include "api/e2b/header_rules.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <charconv>
#include <tuple>
#include <utility>

#include "base/throwing.hpp"
#include "core/json_text.hpp"
#include "secrets/format.hpp"

namespace oyat::e2b {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxDomains = 10, kMaxDomain = 128;
constexpr std::size_t kMaxHeaders = 20, kMaxName = 64, kMaxValue = 2048;
constexpr std::size_t kMaxTokens = 5;

constexpr std::string_view kSecret = "${e2b.secrets.";
constexpr std::string_view kToken = "${e2b.identity.tokens.";

[[noreturn]] void invalid(std::string sentence) {
    throw Error{Errc::invalid_argument, std::move(sentence)};
}

// The way back from format_of_template().
std::string template_of_format(const std::string& format) {
    using Kind = secrets::Format::Piece::Kind;
    std::string text;
    for (const secrets::Format::Piece& piece : or_throw(secrets::Format::parse(format, {})).pieces()) {
        if (piece.kind != Kind::text) text += piece.kind == Kind::secret ? kSecret : kToken;
        text += piece.text;
        if (piece.kind != Kind::text) text += '}';
    }
    return text;
}

const json::object& object_of(const json::value& value, const std::string& what) {
    if (!value.is_object()) invalid(what + " is no object");
    return value.get_object();
}

// "api.example", or with a port that is not 443: what `getHost()` returns where the server's name has one.
std::pair<std::vector<std::string>, std::vector<std::uint16_t>> place_of(const std::string& domain) {
    const std::size_t colon = domain.find(':');
    if (colon == std::string::npos) return {{domain}, {443}};
    std::uint16_t port = 0;
    const char* const end = domain.data() + domain.size();
    const auto [rest, failed] = std::from_chars(domain.data() + colon + 1, end, port);
    if (failed != std::errc{} || rest != end || port == 0)
        invalid("'network.rules': '" + domain + "' is no domain");
    return {{domain.substr(0, colon)}, {port}};
}

void read_rule(const std::string& domain, const json::object& rule, std::vector<core::SecretBinding>& into) {
    const json::value* const transform = rule.if_contains("transform");
    if (transform == nullptr || transform->is_null()) return;
    const json::value* const headers = object_of(*transform, "'transform'").if_contains("headers");
    if (headers == nullptr || headers->is_null()) return;
    const json::object& fields = object_of(*headers, "'transform.headers'");
    if (fields.size() > kMaxHeaders) invalid("'network.rules': more than 20 headers for " + domain);
    for (const auto& [name, value] : fields) {
        if (name.size() > kMaxName) invalid("'network.rules': the name of a header of more than 64 bytes");
        if (!value.is_string()) invalid("'network.rules': the value of a header is no string");
        if (value.get_string().size() > kMaxValue) {
            invalid("'network.rules': the value of a header of more than 2048 bytes");
        }
        core::SecretBinding& binding = into.emplace_back();
        std::tie(binding.hosts, binding.ports) = place_of(domain);
        binding.place = core::SecretPlace::set_header;
        binding.name = std::string{name};
        binding.format = format_of_template(value.get_string().subview());
        binding.during_install = true;  // the protocol knows no window in which it would not hold
        binding.group = core::kHeaderRules;
    }
}

}  // namespace

std::vector<core::SecretBinding> read_header_rules(const rpc::Message& network) {
    std::vector<core::SecretBinding> bindings;
    const std::optional<rpc::Message> rules = network.message("rules");
    if (!rules) return bindings;
    if (rules->size() > kMaxDomains) invalid("'network.rules' has more than 10 domains");
    for (const auto& [key, value] : rules->object()) {
        const std::string domain{key};
        if (domain.size() > kMaxDomain) invalid("'network.rules': a domain of more than 128 bytes");
        if (!value.is_array()) invalid("'network.rules': the rules of a domain are no list");
        if (value.get_array().size() > 1) invalid("'network.rules': more than one rule for " + domain);
        for (const json::value& each : value.get_array()) {
            read_rule(domain, object_of(each, "'network.rules': a rule"), bindings);
        }
    }
    return bindings;
}

void require_secrets(const secrets::Vault* vault, const std::string& tenant,
                     const std::vector<core::SecretBinding>& bindings) {
    if (vault == nullptr) return;  // core refuses what needs one
    for (const core::SecretBinding& binding : bindings) {
        for (const std::string& name : or_throw(secrets::Format::parse(binding.format, {})).secrets()) {
            if (vault->look(tenant, name) == nullptr) invalid("'network.rules': there is no secret " + name);
        }
    }
}

json::object header_rules_view(const std::vector<core::SecretBinding>& bindings) {
    json::object view;
    for (const core::SecretBinding& binding : bindings) {
        const std::string value = template_of_format(binding.format);
        const std::uint16_t port = binding.ports.front();
        json::value& rules = view[binding.hosts.front() + (port == 443 ? "" : ":" + std::to_string(port))];
        if (rules.is_null()) rules = json::array{{{"transform", {{"headers", json::object{}}}}}};
        rules.at(0).at("transform").at("headers").as_object()[binding.name] =
            value.contains("${e2b.") ? core::json_text(value) : json::string{"***"};
    }
    return view;
}

std::map<std::string, core::IdentityToken> read_identity_tokens(const rpc::Message& body) {
    std::map<std::string, core::IdentityToken> tokens;
    const std::optional<rpc::Message> iam = body.message("iam");
    const std::optional<rpc::Message> asked = iam ? iam->message("tokens") : std::nullopt;
    if (!asked) return tokens;
    if (asked->size() > kMaxTokens) invalid("'iam.tokens' has more than 5 tokens");
    for (const auto& [name, value] : asked->object()) {
        const rpc::Message token{object_of(value, "'iam.tokens': a token")};
        if (const std::string type = token.string("tokenType"); !type.empty() && type != "JWT-SVID") {
            invalid("'iam.tokens': the only type of token is JWT-SVID");
        }
        tokens[std::string{name}] = {.audience = token.string("audience")};
    }
    return tokens;
}

std::string format_of_template(std::string_view text) {
    std::string format;
    while (!text.empty()) {
        const std::size_t start = text.find("${e2b.");
        format += secrets::escape_format(text.substr(0, start));
        if (start == std::string_view::npos) break;
        text.remove_prefix(start);
        const std::size_t end = text.find('}');
        const std::string_view reference = text.substr(0, end);
        const bool is_secret = reference.starts_with(kSecret);
        if (end == std::string_view::npos || (!is_secret && !reference.starts_with(kToken))) {
            invalid("'network.rules': a reference is ${e2b.secrets.NAME} or ${e2b.identity.tokens.NAME}");
        }
        const std::string_view name = reference.substr(is_secret ? kSecret.size() : kToken.size());
        format += (is_secret ? "{secret:" : "{token:") + std::string{name} + "}";
        text.remove_prefix(end + 1);
    }
    return format;
}

}  // namespace oyat::e2b
