#include "policy/names.hpp"

#include <algorithm>

namespace oyat::policy {
namespace {

constexpr std::size_t kMaxName = 253, kMaxLabel = 63;

bool is_label_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

// "127", "0x7f": what resolvers of the C library take for a part of an address.
bool is_number(std::string_view label) {
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    const auto hex = [&](char c) { return digit(c) || (c >= 'a' && c <= 'f'); };
    if (std::ranges::all_of(label, digit)) return true;
    return label.starts_with("0x") && std::ranges::all_of(label.substr(2), hex);
}

bool is_label(std::string_view label) {
    return !label.empty() && label.size() <= kMaxLabel && std::ranges::all_of(label, is_label_character);
}

}  // namespace

Result<std::string> canonical_host(std::string_view name) {
    std::string canonical{name};
    if (canonical.ends_with('.')) canonical.pop_back();
    std::ranges::transform(canonical, canonical.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    std::string_view rest = canonical;
    std::string_view label;
    for (bool more = true; more;) {
        const std::size_t dot = rest.find('.');
        label = rest.substr(0, dot);
        if (!is_label(label)) return refuse(Errc::invalid_argument, "not a host name");
        more = dot != std::string_view::npos;
        if (more) rest.remove_prefix(dot + 1);
    }
    // A name's last label is never a number (WHATWG URL, "ends in a number"): that is an address.
    if (canonical.size() > kMaxName || is_number(label))
        return refuse(Errc::invalid_argument, "not a host name");
    return canonical;
}

Result<HostPattern> HostPattern::parse(std::string_view text) {
    if (text == "*") return HostPattern{Kind::any, ""};
    Kind kind = Kind::exact;
    std::string_view rest = text;
    if (rest.starts_with("**.")) {
        kind = Kind::here_and_below;
        rest.remove_prefix(3);
    } else if (rest.starts_with("*.")) {
        kind = Kind::below;
        rest.remove_prefix(2);
    }
    Result<std::string> name = canonical_host(rest);
    if (!name) {
        return refuse(Errc::invalid_argument,
                      "'" + std::string{text} + "' is not a host: write a name, *.NAME, **.NAME or *");
    }
    return HostPattern{kind, *std::move(name)};
}

bool HostPattern::matches(std::string_view name) const {
    switch (kind_) {
        case Kind::any: return true;
        case Kind::exact: return name == name_;
        case Kind::here_and_below:
            if (name == name_) return true;
            [[fallthrough]];
        case Kind::below:
            return name.size() > name_.size() + 1 && name.ends_with(name_) &&
                   name[name.size() - name_.size() - 1] == '.';
    }
    return false;
}

bool HostPattern::covers(const HostPattern& other) const {
    if (kind_ == Kind::any) return true;
    if (other.kind_ == Kind::any) return false;
    if (other.kind_ == Kind::exact) return matches(other.name_);
    if (kind_ == Kind::exact) return false;
    // Whatever ends in ".b.test" ends in ".test"; at the same name only the apex makes a difference.
    if (other.name_ == name_) return kind_ == Kind::here_and_below || other.kind_ == Kind::below;
    return matches(other.name_);
}

std::string HostPattern::text() const {
    switch (kind_) {
        case Kind::any: return "*";
        case Kind::exact: return name_;
        case Kind::below: return "*." + name_;
        case Kind::here_and_below: return "**." + name_;
    }
    return {};
}

bool matches_any(const std::vector<HostPattern>& patterns, std::string_view name) {
    return std::ranges::any_of(patterns, [&](const HostPattern& pattern) { return pattern.matches(name); });
}

}  // namespace oyat::policy
