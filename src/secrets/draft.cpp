#include "secrets/draft.hpp"

#include <algorithm>
#include <utility>

#include "http/grammar.hpp"
#include "http/url.hpp"
#include "secrets/base64.hpp"
#include "secrets/rewriting.hpp"
#include "secrets/sigv4.hpp"

namespace oyat::secrets {
namespace {

using core::SecretPlace;

constexpr std::string_view kBasic = "Basic ";

bool is_basic(std::string_view value) {
    return http::equal_ignoring_case(value.substr(0, kBasic.size()), kBasic);
}

// What stands in a file often ends with a line feed that is not part of the secret.
std::string_view without_line_end(std::string_view value) {
    while (value.ends_with('\n') || value.ends_with('\r')) value.remove_suffix(1);
    return value;
}

std::string host_field(const RequestView& request) {
    const std::uint16_t usual = request.tls ? 443 : 80;
    return std::string{request.host} + (request.port == usual ? "" : ":" + std::to_string(request.port));
}

}  // namespace

bool is_rewritable_body(const http::Fields& fields) {
    return body_kind(fields) != BodyKind::other;
}

Draft::Draft(const RequestView& request, const Values& values,
             std::function<std::string(const Grant&)> unusable)
    : request_{request}, values_{values}, unusable_{std::move(unusable)} {
    made_.target = request.target;
    made_.fields = request.fields;
}

// --- outcomes ---------------------------------------------------------------------------------------------

bool Draft::refuse(const std::string& secret, const std::string& place, std::string reason) {
    made_.refusal = reason;
    made_.notes = {
        {.kind = Note::Kind::refused, .secret = secret, .place = place, .reason = std::move(reason)}};
    return false;
}

bool Draft::leak(const std::string& secret, const std::string& place) {
    made_.refusal = "the placeholder of " + (secret.starts_with("a ") ? secret : "secret " + secret) +
                    " has no business in the " + place + " of this request; it was not sent";
    made_.notes = {{.kind = Note::Kind::leak, .secret = secret, .place = place, .reason = {}}};
    return false;
}

void Draft::used(const Grant& grant, const std::string& secret, const std::string& place) {
    made_.notes.push_back({.kind = Note::Kind::used, .secret = secret, .place = place, .reason = {}});
    if (std::ranges::find(used_, grant.id) == used_.end()) used_.push_back(grant.id);
}

std::vector<std::string> Draft::allow() {
    made_.forward = true;
    return std::move(used_);
}

Prepared Draft::result() && {
    if (made_.forward) return std::move(made_);
    return {.forward = false,
            .target = {},
            .fields = {},
            .body = {},
            .refusal = std::move(made_.refusal),
            .notes = std::move(made_.notes)};  // no value leaves with a refusal
}

// --- values -----------------------------------------------------------------------------------------------

std::optional<SecretValue> Draft::take(const Grant& grant, const std::string& place) {
    const std::string& name = grant.binding->secret();
    if (const std::string why = unusable_(grant); !why.empty()) {
        (void)refuse(name, place, "secret " + name + " was not used: " + why);
        return std::nullopt;
    }
    Result<SecretValue> value = values_.secret(name);
    if (!value) {
        (void)refuse(name, place, value.error().message());
        return std::nullopt;
    }
    used(grant, name, place);
    return *std::move(value);
}

std::optional<std::string> Draft::compose(const Grant& grant, const std::string& place) {
    const std::string& first = grant.binding->secret();
    if (const std::string why = unusable_(grant); !why.empty()) {
        (void)refuse(first, place, "secret " + first + " was not used: " + why);
        return std::nullopt;
    }
    std::string text;
    for (const Format::Piece& piece : grant.binding->format().pieces()) {
        if (piece.kind == Format::Piece::Kind::text) {
            text += piece.text;
        } else if (piece.kind == Format::Piece::Kind::token) {
            const Result<std::string> token = values_.identity_token(piece.text);
            if (!token) {
                (void)refuse(piece.text, place, token.error().message());
                return std::nullopt;
            }
            text += *token;
            used(grant, "token:" + piece.text, place);
        } else {
            const Result<SecretValue> value = values_.secret(piece.text);
            if (!value) {
                (void)refuse(piece.text, place, value.error().message());
                return std::nullopt;
            }
            text += without_line_end(value->bytes());
            used(grant, piece.text, place);
        }
    }
    if (!http::is_field_value(text)) {
        (void)refuse(first, place, "secret " + first + " has bytes that no header field can carry");
        return std::nullopt;
    }
    return text;
}

// --- steps ------------------------------------------------------------------------------------------------

bool Draft::inject(const std::vector<const Grant*>& here) {
    for (const Grant* const grant : here) {
        if (!grant->binding->is_injected()) continue;
        const std::string& name = grant->binding->asked().name;
        std::optional<std::string> value = compose(*grant, "header " + name);
        if (!value) return false;
        made_.fields.set(name, *std::move(value));
    }
    return true;
}

bool Draft::substitute(const std::vector<const Grant*>& here) {
    return std::ranges::all_of(here, [this](const Grant* grant) {
        switch (grant->binding->asked().place) {
            case SecretPlace::header: return in_fields(*grant);
            case SecretPlace::basic: return in_basic(*grant);
            case SecretPlace::query: return in_query(*grant);
            case SecretPlace::body: return in_body(*grant);
            case SecretPlace::set_header:
            case SecretPlace::aws_sigv4: return true;
        }
        return true;
    });
}

bool Draft::in_fields(const Grant& grant) {
    const core::SecretBinding& asked = grant.binding->asked();
    http::Fields after;
    for (const auto& [name, before] : made_.fields) {
        std::string value = before;
        const bool meant = asked.name == "*" || http::equal_ignoring_case(name, asked.name);
        if (meant && value.find(grant.placeholder) != std::string::npos) {
            const std::string place = "header " + name;
            if (!grant.binding->format().pieces().empty()) {
                std::optional<std::string> composed = compose(grant, place);
                if (!composed) return false;
                value = *std::move(composed);
            } else {
                const std::optional<SecretValue> secret = take(grant, place);
                if (!secret) return false;
                replace_all(value, grant.placeholder, without_line_end(secret->bytes()));
                if (!http::is_field_value(value)) {
                    return refuse(asked.secret, place,
                                  "secret " + asked.secret + " has bytes that no header field can carry");
                }
            }
        }
        after.add(name, std::move(value));
    }
    made_.fields = std::move(after);
    return asked.name == "*" ? in_basic(grant) : true;
}

bool Draft::in_basic(const Grant& grant) {
    if (made_.fields.count("Authorization") != 1) return true;
    const std::string_view field = made_.fields.get("Authorization");
    if (!is_basic(field)) return true;
    std::optional<std::string> credentials = from_base64(field.substr(kBasic.size()));
    if (!credentials || credentials->find(grant.placeholder) == std::string::npos) return true;
    const std::optional<SecretValue> secret = take(grant, "header authorization");
    if (!secret) return false;
    replace_all(*credentials, grant.placeholder, without_line_end(secret->bytes()));
    made_.fields.set("Authorization", std::string{kBasic} + base64(*credentials));
    return true;
}

bool Draft::in_query(const Grant& grant) {
    if (!query_parameter_holds(made_.target, grant.binding->asked().name, grant.placeholder)) return true;
    const std::optional<SecretValue> secret = take(grant, "query " + grant.binding->asked().name);
    if (!secret) return false;
    replace_in_query(made_.target, grant.binding->asked().name, grant.placeholder,
                     without_line_end(secret->bytes()));
    return true;
}

bool Draft::in_body(const Grant& grant) {
    if (!request_.body) return true;
    const BodyKind kind = body_kind(request_.fields);
    const std::string before = made_.body.value_or(std::string{*request_.body});
    const std::string& member = grant.binding->asked().name;
    if (!body_member_holds(kind, before, member, grant.placeholder)) return true;
    const std::optional<SecretValue> secret = take(grant, "body " + member);
    if (!secret) return false;
    made_.body = replace_in_body(kind, before, member, grant.placeholder, secret->bytes());
    made_.fields.set("Content-Length", std::to_string(made_.body->size()));
    made_.fields.remove("Transfer-Encoding");
    return true;
}

bool Draft::sign(const std::vector<const Grant*>& here) {
    const auto claim = sigv4::read_claim(made_.fields, made_.target);
    if (!claim || !*claim) return true;
    const auto found = std::ranges::find_if(here, [&](const Grant* grant) {
        return grant->binding->asked().place == SecretPlace::aws_sigv4 &&
               grant->placeholder == (*claim)->key_id;
    });
    if (found == here.end()) return true;
    const Grant& grant = **found;
    const std::string place =
        (*claim)->where == sigv4::Claim::Where::header ? "header authorization" : "query";
    const std::optional<SecretValue> secret = take(grant, place);
    if (!secret) return false;
    const Result<sigv4::Key> key = sigv4::Key::parse(secret->bytes());
    if (!key) return refuse(grant.binding->secret(), place, key.error().message());
    sigv4::Request request{.method = std::string{request_.method},
                           .host = host_field(request_),
                           .target = made_.target,
                           .fields = made_.fields,
                           .body = made_.body ? std::string_view{*made_.body} : request_.body.value_or("")};
    if (const Result<void> done = sigv4::sign(request, **claim, *key); !done) {
        return refuse(grant.binding->secret(), place, done.error().message());
    }
    made_.target = std::move(request.target);
    made_.fields = std::move(request.fields);
    return true;
}

bool Draft::keep_in(const Spellings& spellings) {
    if (const auto found = spellings.find(request_.method)) return leak(*found, "method");
    const std::size_t mark = made_.target.find('?');
    if (const auto found = spellings.find(std::string_view{made_.target}.substr(0, mark)))
        return leak(*found, "path");
    if (mark != std::string::npos) {
        if (const auto found = spellings.find(std::string_view{made_.target}.substr(mark)))
            return leak(*found, "query");
    }
    for (const auto& [name, value] : made_.fields) {
        if (const auto named = spellings.find(name)) return leak(*named, "name of a header");
        auto found = spellings.find(value);
        if (!found && is_basic(value)) {
            found = spellings.find(from_base64(std::string_view{value}.substr(kBasic.size())).value_or(""));
        }
        if (found) return leak(*found, "header " + name);
    }
    const std::string_view body = made_.body ? std::string_view{*made_.body} : request_.body.value_or("");
    if (const auto found = spellings.find(body.substr(0, kMaxBody))) return leak(*found, "body");
    return true;
}

}  // namespace oyat::secrets
