#include "core/snapshot_name.hpp"

#include <algorithm>

namespace oyat::core {
namespace {

constexpr std::size_t kIdLength = 21;
constexpr std::size_t kLongest = 128;  // of a name, and of a tag

bool is_id_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_word(std::string_view text, bool with_dots) {
    return !text.empty() && text.size() <= kLongest && std::ranges::all_of(text, [&](char c) {
        return is_id_letter(c) || c == '-' || c == '_' || (with_dots && c == '.');
    });
}

std::string small(std::string_view text) {
    std::string all{text};
    for (char& c : all) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return all;
}

}  // namespace

bool is_snapshot_id(std::string_view text) noexcept {
    return text.size() == kIdLength && text[0] == 's' && std::ranges::all_of(text, is_id_letter);
}

Result<SnapshotName> SnapshotName::parse(std::string_view text, std::string_view tenant) {
    std::string_view rest = text;
    if (const std::size_t slash = rest.find('/'); slash != std::string_view::npos) {
        if (rest.substr(0, slash) != tenant)
            return refuse(Errc::invalid_argument,
                          "a snapshot's name stands below the name of its own tenant");
        rest.remove_prefix(slash + 1);
    }
    SnapshotName named{.name = {}, .tag = "default"};
    if (const std::size_t colon = rest.find(':'); colon != std::string_view::npos) {
        named.tag = small(rest.substr(colon + 1));
        named.with_tag = true;
        rest = rest.substr(0, colon);
    }
    named.name = small(rest);
    if (!is_word(named.name, false) || !is_word(named.tag, true)) {
        return refuse(
            Errc::invalid_argument,
            "a snapshot's name is letters, digits, '-' and '_', with a tag behind ':' that may hold "
            "dots, of 128 bytes at most");
    }
    if (is_snapshot_id(named.name))
        return refuse(Errc::invalid_argument, "a snapshot's name must not read like an id");
    return named;
}

}  // namespace oyat::core
