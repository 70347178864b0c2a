#include "secrets/rewriting.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <utility>

#include "base/json_escape.hpp"
#include "http/url.hpp"

namespace oyat::secrets {
namespace {

namespace json = boost::json;

std::size_t count(std::string_view text, std::string_view what) {
    std::size_t times = 0;
    for (std::size_t at = text.find(what); at != std::string_view::npos;
         at = text.find(what, at + what.size())) {
        ++times;
    }
    return times;
}

bool is_named(std::string_view parameter, std::string_view name) {
    const auto decoded = http::percent_decode(parameter.substr(0, parameter.find('=')));
    return decoded && *decoded == name;
}

// Calls `each` with every "name=value" of a form's text and joins what it returns.
template <class Each>
std::string map_parameters(std::string_view text, Each each) {
    std::string made;
    while (true) {
        const std::size_t end = text.find('&');
        made += each(text.substr(0, end));
        if (end == std::string_view::npos) return made;
        made += '&';
        text.remove_prefix(end + 1);
    }
}

bool parameter_holds(std::string_view text, std::string_view name, std::string_view placeholder) {
    bool holds = false;
    (void)map_parameters(text, [&](std::string_view parameter) {
        holds = holds || (is_named(parameter, name) && parameter.find(placeholder) != std::string_view::npos);
        return std::string_view{};
    });
    return holds;
}

std::string replace_in_parameters(std::string_view text, std::string_view name, std::string_view placeholder,
                                  std::string_view value) {
    const std::string written = http::percent_encode(value);
    return map_parameters(text, [&](std::string_view parameter) {
        std::string kept{parameter};
        if (is_named(parameter, name)) replace_all(kept, placeholder, written);
        return kept;
    });
}

std::string_view query_of(std::string_view target) {
    const std::size_t mark = target.find('?');
    return mark == std::string_view::npos ? std::string_view{} : target.substr(mark + 1);
}

bool json_member_holds(std::string_view body, std::string_view member, std::string_view placeholder) {
    boost::system::error_code problem;
    const json::value value = json::parse(body, problem, {}, {.max_depth = 32});
    if (problem || !value.is_object()) return false;
    const json::value* const found = value.get_object().if_contains(member);
    if (found == nullptr || !found->is_string()) return false;
    const std::string_view text = found->get_string().subview();
    // The bytes of the body are what is replaced, so all that are there must be this member's.
    const std::size_t times = count(text, placeholder);
    return times > 0 && times == count(body, placeholder);
}

}  // namespace

void replace_all(std::string& text, std::string_view what, std::string_view with) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
        text.replace(at, what.size(), with);
    }
}

bool query_parameter_holds(std::string_view target, std::string_view name, std::string_view placeholder) {
    return parameter_holds(query_of(target), name, placeholder);
}

void replace_in_query(std::string& target, std::string_view name, std::string_view placeholder,
                      std::string_view value) {
    const std::string query = replace_in_parameters(query_of(target), name, placeholder, value);
    target.resize(target.find('?') + 1);
    target += query;
}

BodyKind body_kind(const http::Fields& fields) {
    if (fields.has("Content-Encoding")) return BodyKind::other;
    std::string_view type = fields.get("Content-Type");
    type = type.substr(0, type.find(';'));
    while (type.ends_with(' ')) type.remove_suffix(1);
    if (http::equal_ignoring_case(type, "application/x-www-form-urlencoded")) return BodyKind::form;
    const bool is_json =
        http::equal_ignoring_case(type, "application/json") ||
        (type.size() > 5 && http::equal_ignoring_case(type.substr(type.size() - 5), "+json"));
    return is_json ? BodyKind::json : BodyKind::other;
}

bool body_member_holds(BodyKind kind, std::string_view body, std::string_view member,
                       std::string_view placeholder) {
    switch (kind) {
        case BodyKind::json: return json_member_holds(body, member, placeholder);
        case BodyKind::form: return parameter_holds(body, member, placeholder);
        case BodyKind::other: return false;
    }
    return false;
}

std::string replace_in_body(BodyKind kind, std::string_view body, std::string_view member,
                            std::string_view placeholder, std::string_view value) {
    if (kind == BodyKind::form) return replace_in_parameters(body, member, placeholder, value);
    const std::string quoted = json_string(value);
    std::string made{body};
    replace_all(made, placeholder, std::string_view{quoted}.substr(1, quoted.size() - 2));
    return made;
}

}  // namespace oyat::secrets
