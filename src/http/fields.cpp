#include "http/fields.hpp"

#include <algorithm>

namespace oyat::http {
namespace {

// Field names are ASCII; the locale has no say.
char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

bool equal_ignoring_case(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

void Fields::set(std::string_view name, std::string value) {
    remove(name);
    add(std::string{name}, std::move(value));
}

void Fields::remove(std::string_view name) {
    std::erase_if(list_, [name](const auto& field) { return equal_ignoring_case(field.first, name); });
}

std::string_view Fields::get(std::string_view name) const {
    for (const auto& [key, value] : list_) {
        if (equal_ignoring_case(key, name)) return value;
    }
    return {};
}

bool Fields::has(std::string_view name) const {
    return count(name) > 0;
}

std::size_t Fields::count(std::string_view name) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        list_, [name](const auto& field) { return equal_ignoring_case(field.first, name); }));
}

bool Fields::has_token(std::string_view name, std::string_view token) const {
    for (const auto& [key, value] : list_) {
        if (!equal_ignoring_case(key, name)) continue;
        std::string_view rest = value;
        while (!rest.empty()) {
            const auto comma = std::min(rest.find(','), rest.size());
            if (equal_ignoring_case(trimmed(rest.substr(0, comma)), token)) return true;
            rest.remove_prefix(std::min(comma + 1, rest.size()));
        }
    }
    return false;
}

}  // namespace oyat::http
