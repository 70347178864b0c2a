#include "core/secret_variables.hpp"

#include <algorithm>
#include <array>

namespace oyat::core {
namespace {

constexpr std::array<std::string_view, 8> kParts{"SECRET",     "TOKEN",  "PASSWORD",   "PASSWD",
                                                 "PASSPHRASE", "APIKEY", "CREDENTIAL", "PRIVATE"};
// Of these only the whole word counts, or AUTHOR and PATH_TO_MONKEYS would be taken for secrets.
constexpr std::array<std::string_view, 4> kWords{"KEY", "KEYS", "PASS", "AUTH"};

char upper(char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

// The password of "scheme://user:password@host", or "".
std::string_view password_in(std::string_view url) {
    const std::size_t scheme = url.find("://");
    if (scheme == std::string_view::npos) return {};
    const std::string_view authority = url.substr(scheme + 3, url.find('/', scheme + 3) - scheme - 3);
    const std::size_t at = authority.rfind('@');
    const std::size_t colon = authority.find(':');
    if (at == std::string_view::npos || colon == std::string_view::npos || colon > at) return {};
    return authority.substr(colon + 1, at - colon - 1);
}

}  // namespace

bool names_a_secret(std::string_view variable) {
    std::string name{variable};
    std::ranges::transform(name, name.begin(), upper);
    if (std::ranges::any_of(kParts, [&](std::string_view part) { return name.contains(part); })) return true;
    for (std::size_t at = 0; at < name.size();) {
        const std::size_t end = std::min(name.find_first_of("_-.", at), name.size());
        const std::string_view word = std::string_view{name}.substr(at, end - at);
        if (std::ranges::find(kWords, word) != kWords.end()) return true;
        at = end + 1;
    }
    return false;
}

std::vector<masking::Value> secrets_in(const std::map<std::string, std::string>& variables) {
    std::vector<masking::Value> secrets;
    for (const auto& [name, value] : variables) {
        const std::string_view secret = names_a_secret(name) ? std::string_view{value} : password_in(value);
        if (secret.size() >= masking::kShortestValue) {
            secrets.push_back({.name = name, .value = std::string{secret}});
        }
    }
    return secrets;
}

}  // namespace oyat::core
