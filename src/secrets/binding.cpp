#include "secrets/binding.hpp"

#include <libpsl.h>

#include <algorithm>
#include <array>

#include "base/throwing.hpp"
#include "http/fields.hpp"
#include "http/grammar.hpp"
#include "secrets/request.hpp"
#include "secrets/secret.hpp"

namespace oyat::secrets {
namespace {

using core::SecretBinding;
using core::SecretPlace;

constexpr const char* kSigningKey = "AWS_SECRET_ACCESS_KEY";
constexpr const char* kSigningKeyId = "AWS_ACCESS_KEY_ID";
constexpr std::size_t kMaxList = 64;

[[noreturn]] void wrong(std::string sentence) {
    throw Error{Errc::invalid_argument, "binding: " + std::move(sentence)};
}

// Where a message ends, to whom it goes and how the connection goes on is never a secret's business (RFC
// 9110, 7.6.1).
bool is_framing(std::string_view field) {
    constexpr std::array<std::string_view, 12> kNames{"host",
                                                      "content-length",
                                                      "transfer-encoding",
                                                      "content-encoding",
                                                      "connection",
                                                      "keep-alive",
                                                      "upgrade",
                                                      "te",
                                                      "trailer",
                                                      "expect",
                                                      "proxy-authorization",
                                                      "proxy-connection"};
    return std::ranges::any_of(kNames,
                               [&](std::string_view each) { return http::equal_ignoring_case(each, field); });
}

// Who may register names below it may receive the secret, so there must be one owner (publicsuffix.org).
bool has_one_owner(const policy::HostPattern& host) {
    if (!host.exact().empty()) return true;
    if (host.is_any()) return false;
    return psl_registrable_domain(psl_builtin(), host.name().c_str()) != nullptr;
}

void check_variable(const std::string& name) {
    const auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    if (name.empty() || name.size() > 128 || !std::ranges::all_of(name, fits) ||
        (name[0] >= '0' && name[0] <= '9')) {
        wrong("'env' is no name of a variable");
    }
}

void check_field(const std::string& name) {
    if (!http::is_token(name)) wrong("'how.name' is no name of a header field");
    if (is_framing(name)) wrong("the field '" + name + "' is not for secrets");
}

// Fills in what the place implies and refuses what does not go with it.
void check_place(SecretBinding& asked) {
    const bool formats = asked.place == SecretPlace::header || asked.place == SecretPlace::set_header;
    if (!formats && !asked.format.empty()) wrong("'how.format' is for header and set_header");
    switch (asked.place) {
        case SecretPlace::header:
            if (asked.name.empty()) asked.name = "*";
            if (asked.name == "*" && !asked.format.empty()) wrong("'how.format' needs the name of a field");
            if (asked.name != "*") check_field(asked.name);
            break;
        case SecretPlace::set_header:
            check_field(asked.name);
            if (asked.format.empty()) wrong("set_header needs 'how.format'");
            if (!asked.env.empty() || !asked.shape.empty())
                wrong("set_header puts nothing into the sandbox: no 'env', no 'shape'");
            if (!asked.commands.empty()) wrong("set_header is for the whole sandbox: no 'scope.commands'");
            break;
        case SecretPlace::basic:
            if (!asked.name.empty()) wrong("basic has no 'how.name'");
            break;
        case SecretPlace::query:
        case SecretPlace::body:
            if (asked.name.empty() || asked.name.size() > 256) wrong("'how.name' is missing");
            break;
        case SecretPlace::aws_sigv4:
            if (asked.name.empty()) asked.name = kSigningKeyId;
            if (asked.env.empty()) asked.env = kSigningKey;
            check_variable(asked.name);
            break;
    }
    if (asked.place == SecretPlace::set_header) return;
    if (asked.secret.empty()) wrong("'secret' is missing");
    check_variable(asked.env);
}

void check_where(const SecretBinding& asked) {
    if (asked.hosts.empty()) wrong("'where.host' is missing: a secret goes nowhere by itself");
    if (asked.ports.empty()) wrong("'where.port' is empty");
    if (asked.hosts.size() > kMaxList || asked.paths.size() > kMaxList || asked.methods.size() > kMaxList ||
        asked.ports.size() > kMaxList || asked.commands.size() > kMaxList) {
        wrong("lists of more than 64");
    }
    for (const std::string& method : asked.methods) {
        if (!http::is_token(method)) wrong("'where.method' holds what is no method");
    }
    for (const auto& argv : asked.commands) {
        if (argv.empty()) wrong("'scope.commands' with an empty argv");
    }
}

bool overlap(const policy::HostPattern& a, const policy::HostPattern& b) {
    if (!a.exact().empty()) return b.matches(a.exact());
    if (!b.exact().empty()) return a.matches(b.exact());
    if (a.is_any() || b.is_any()) return true;
    const auto below = [](const std::string& name, const std::string& domain) {
        return name == domain || name.ends_with("." + domain);
    };
    return below(a.name(), b.name()) || below(b.name(), a.name());
}

// On the safe side: patterns are apart only when what stands before their first wildcards is.
bool overlap(const std::string& a, const std::string& b) {
    const std::string_view head_a = std::string_view{a}.substr(0, a.find_first_of("*?"));
    const std::string_view head_b = std::string_view{b}.substr(0, b.find_first_of("*?"));
    if (head_a.size() == a.size() && head_b.size() == b.size()) return a == b;
    if (head_a.size() == a.size()) return head_a.starts_with(head_b);
    if (head_b.size() == b.size()) return head_b.starts_with(head_a);
    return head_a.starts_with(head_b) || head_b.starts_with(head_a);
}

// Lists of criteria: an empty one holds for everything.
template <class T, class Overlap>
bool lists_overlap(const std::vector<T>& a, const std::vector<T>& b, Overlap both) {
    if (a.empty() || b.empty()) return true;
    return std::ranges::any_of(a, [&](const T& one) {
        return std::ranges::any_of(b, [&](const T& other) { return both(one, other); });
    });
}

// The place of a request that a binding fills.
std::string slot(const SecretBinding& asked) {
    std::string name = asked.name;
    switch (asked.place) {
        case SecretPlace::header:
        case SecretPlace::set_header:
            for (char& c : name) {
                if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
            }
            return "header " + name;
        case SecretPlace::basic:
        case SecretPlace::aws_sigv4: return "header authorization";
        case SecretPlace::query: return "query " + name;
        case SecretPlace::body: return "body " + name;
    }
    return {};
}

bool same_word(std::string_view pattern, std::string_view word, bool is_program) {
    if (pattern == "*") return true;
    // A program is meant by its name wherever it lies, unless the pattern says where.
    if (is_program && pattern.find('/') == std::string_view::npos) word = word.substr(word.rfind('/') + 1);
    return pattern == word;
}

bool fits(const std::vector<std::string>& pattern, const std::vector<std::string>& argv) {
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] == "**") return true;  // whatever follows
        if (i >= argv.size() || !same_word(pattern[i], argv[i], i == 0)) return false;
    }
    return pattern.size() == argv.size();
}

}  // namespace

Result<Binding> Binding::parse(SecretBinding asked) {
    try {
        check_where(asked);
        if (!asked.secret.empty()) asked.secret = or_throw(secret_name(asked.secret));
        check_place(asked);
        Binding made{asked, or_throw(Format::parse(asked.format, asked.secret)),
                     or_throw(PlaceholderShape::parse(asked.shape))};
        for (const std::string& each : asked.hosts) {
            policy::HostPattern host = or_throw(policy::HostPattern::parse(each));
            if (!has_one_owner(host)) {
                wrong("'" + each +
                      "' is wider than one registered domain: name the domain that may get the secret");
            }
            made.hosts_.push_back(std::move(host));
        }
        for (const std::string& each : asked.paths)
            made.paths_.push_back(or_throw(policy::PathPattern::parse(each)));
        return made;
    } catch (Error& error) {
        return std::unexpected{std::move(error)};
    }
}

std::vector<std::string> Binding::secrets() const {
    std::vector<std::string> names = format_.secrets();
    if (!asked_.secret.empty() && std::ranges::find(names, asked_.secret) == names.end()) {
        names.push_back(asked_.secret);
    }
    return names;
}

std::vector<std::string> Binding::variables() const {
    if (is_injected()) return {};
    if (asked_.place == SecretPlace::aws_sigv4) return {asked_.env, asked_.name};
    return {asked_.env};
}

bool Binding::covers(const RequestView& request) const {
    if (!request.tls && !asked_.allow_plain) return false;
    if (!policy::matches_any(hosts_, request.host)) return false;
    if (std::ranges::find(asked_.ports, request.port) == asked_.ports.end()) return false;
    if (!asked_.methods.empty() &&
        std::ranges::find(asked_.methods, request.method) == asked_.methods.end()) {
        return false;
    }
    if (paths_.empty()) return true;
    const auto target = policy::CanonicalTarget::of(request.target);
    return target && std::ranges::any_of(paths_, [&](const auto& each) { return each.matches(*target); });
}

bool Binding::fits_command(const std::vector<std::string>& argv) const {
    return asked_.commands.empty() ||
           std::ranges::any_of(asked_.commands, [&](const auto& pattern) { return fits(pattern, argv); });
}

bool Binding::contradicts(const Binding& other) const {
    const auto equal = [](const auto& a, const auto& b) { return a == b; };
    if (slot(asked_) != slot(other.asked_)) return false;
    // Of header rules the one with the narrower host holds.
    const bool both_rules = asked_.group == core::kHeaderRules && other.asked_.group == core::kHeaderRules;
    if (both_rules && hosts_ != other.hosts_) return false;
    // In "any field" the placeholder tells which is meant.
    if (asked_.name == "*" && asked_.secret != other.asked_.secret) return false;
    return lists_overlap(hosts_, other.hosts_, [](const auto& a, const auto& b) { return overlap(a, b); }) &&
           lists_overlap(asked_.ports, other.asked_.ports, equal) &&
           lists_overlap(asked_.methods, other.asked_.methods, equal) &&
           lists_overlap(asked_.paths, other.asked_.paths,
                         [](const std::string& a, const std::string& b) { return overlap(a, b); });
}

}  // namespace oyat::secrets
