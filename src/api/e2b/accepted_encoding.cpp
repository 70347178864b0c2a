#include "api/e2b/accepted_encoding.hpp"

#include <optional>

#include "http/fields.hpp"

namespace oyat::e2b {
namespace {

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// "q=0", "q=0.0" and so on; every other weight means yes.
bool is_refusal(std::string_view parameters) {
    const std::size_t at = parameters.find("q=");
    if (at == std::string_view::npos) return false;
    const std::string_view weight = trimmed(parameters.substr(at + 2));
    return weight.starts_with('0') && weight.find_first_of("123456789") == std::string_view::npos;
}

struct Wishes {
    std::optional<bool> gzip;  // named and wanted, named and refused, not named
    std::optional<bool> identity;
    std::optional<bool> anything;  // "*"
    bool others = false;           // some other coding is wanted
};

Wishes read(std::string_view list) {
    Wishes wishes;
    while (!list.empty()) {
        const std::size_t comma = std::min(list.find(','), list.size());
        const std::string_view item = trimmed(list.substr(0, comma));
        list.remove_prefix(std::min(comma + 1, list.size()));
        if (item.empty()) continue;
        const std::size_t semicolon = std::min(item.find(';'), item.size());
        const std::string_view name = trimmed(item.substr(0, semicolon));
        const bool wanted = !is_refusal(item.substr(semicolon));
        if (http::equal_ignoring_case(name, "gzip") || http::equal_ignoring_case(name, "x-gzip")) {
            wishes.gzip = wanted;
        } else if (http::equal_ignoring_case(name, "identity")) {
            wishes.identity = wanted;
        } else if (name == "*") {
            wishes.anything = wanted;
        } else if (wanted) {
            wishes.others = true;
        }
    }
    return wishes;
}

}  // namespace

ContentCoding coding_for(std::string_view accept_encoding) {
    const Wishes wishes = read(accept_encoding);
    const bool gzip = wishes.gzip.value_or(wishes.anything.value_or(false));
    const bool identity = wishes.identity.value_or(wishes.anything.value_or(true));
    const bool only_gzip = wishes.gzip.value_or(false) && !wishes.others &&
                           !wishes.identity.value_or(false) && !wishes.anything.value_or(false);
    if (only_gzip || (gzip && !identity)) return ContentCoding::gzip;
    return identity ? ContentCoding::identity : ContentCoding::none_acceptable;
}

}  // namespace oyat::e2b
