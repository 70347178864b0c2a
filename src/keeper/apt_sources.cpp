#include "keeper/apt_sources.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "keeper/index_settings.hpp"

namespace oyat::keeper {
namespace {

constexpr std::array kComponents{std::string_view{"main"}, std::string_view{"contrib"},
                                 std::string_view{"non-free"}, std::string_view{"non-free-firmware"}};
constexpr std::array kPockets{std::string_view{""}, std::string_view{"-updates"},
                              std::string_view{"-security"}};

std::vector<std::string_view> words_of(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    std::vector<std::string_view> words;
    for (std::size_t at = 0; (at = text.find_first_not_of(blanks, at)) != std::string_view::npos;) {
        const std::size_t end = std::min(text.find_first_of(blanks, at), text.size());
        words.push_back(text.substr(at, end - at));
        at = end;
    }
    return words;
}

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        lines.push_back(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return lines;
}

std::string lower(std::string_view text) {
    std::string out{text};
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

using Stanza = std::map<std::string, std::string>;

std::vector<Stanza> stanzas_of(std::string_view text) {
    std::vector<Stanza> stanzas(1);
    std::string field;
    for (const std::string_view line : lines_of(text)) {
        if (words_of(line).empty()) {
            stanzas.emplace_back();
            field.clear();
        } else if (line.front() == '#') {
            continue;
        } else if (line.front() == ' ' || line.front() == '\t') {
            if (!field.empty()) stanzas.back()[field].append(" ").append(line);
        } else if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
            field = lower(line.substr(0, colon));
            stanzas.back()[field] = line.substr(colon + 1);
        }
    }
    return stanzas;
}

}  // namespace

void AptSources::add(std::string_view uri, std::string_view suite,
                     const std::vector<std::string_view>& components) {
    const bool own = std::ranges::any_of(
        kPockets, [&](std::string_view pocket) { return suite == release_ + std::string{pocket}; });
    if (!own || !is_plain_url(uri)) return;
    std::string kept;
    for (const std::string_view component : components) {
        if (std::ranges::find(kComponents, component) != kComponents.end())
            kept.append(" ").append(component);
    }
    if (kept.empty()) return;
    std::string line = "deb " + std::string{uri} + " " + std::string{suite} + kept;
    if (std::ranges::find(lines_, line) == lines_.end()) lines_.push_back(std::move(line));
}

void AptSources::add_one_line_file(std::string_view text) {
    for (const std::string_view line : lines_of(text)) {
        std::vector<std::string_view> words = words_of(line.substr(0, line.find('#')));
        if (words.empty() || words[0] != "deb") continue;
        words.erase(words.begin());
        if (!words.empty() && words[0].starts_with('[')) {
            while (!words.empty() && !words[0].ends_with(']')) words.erase(words.begin());
            if (!words.empty()) words.erase(words.begin());
        }
        if (words.size() >= 3) add(words[0], words[1], {words.begin() + 2, words.end()});
    }
}

void AptSources::add_deb822_file(std::string_view text) {
    for (Stanza& stanza : stanzas_of(text)) {
        const std::vector<std::string_view> enabled = words_of(stanza["enabled"]);
        if (!enabled.empty() && lower(enabled[0]) != "yes") continue;
        const std::vector<std::string_view> types = words_of(stanza["types"]);
        if (std::ranges::find(types, "deb") == types.end()) continue;
        for (const std::string_view uri : words_of(stanza["uris"])) {
            for (const std::string_view suite : words_of(stanza["suites"]))
                add(uri, suite, words_of(stanza["components"]));
        }
    }
}

std::string AptSources::lines() const {
    std::string text;
    for (const std::string& line : lines_) text += line + "\n";
    return text;
}

std::string release_in(std::string_view os_release) {
    constexpr std::string_view key = "VERSION_CODENAME=";
    for (const std::string_view line : lines_of(os_release)) {
        if (!line.starts_with(key)) continue;
        std::string_view value = line.substr(key.size());
        if (value.size() >= 2 && value.front() == '"') value = value.substr(1, value.size() - 2);
        const bool plain = std::ranges::all_of(
            value, [](char c) { return std::islower(static_cast<unsigned char>(c)) != 0; });
        return plain ? std::string{value} : std::string{};
    }
    return {};
}

}  // namespace oyat::keeper
