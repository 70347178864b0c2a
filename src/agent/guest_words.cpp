#include "agent/guest_words.hpp"

#include <algorithm>
#include <charconv>

namespace oyat::agent {
namespace {

constexpr std::size_t kMostHostName = 63;

bool is_label(std::string_view text) {
    return !text.empty() && text.size() <= kMostHostName && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    });
}

// Takes the text up to one of `ends` off the front.
std::string_view take_until(std::string_view& text, std::string_view ends) {
    const std::string_view taken = text.substr(0, text.find_first_of(ends));
    text.remove_prefix(std::min(taken.size() + 1, text.size()));
    return taken;
}

}  // namespace

Answer<GuestWords> parse_guest_words(std::string_view command_line) {
    constexpr std::string_view kGeneration = "oyat.generation=";
    constexpr std::string_view kId = "oyat.id=";
    GuestWords words;
    bool has_generation = false;
    while (!command_line.empty()) {
        const std::string_view word = take_until(command_line, " \t\n");
        if (word.starts_with(kGeneration)) {
            const std::string_view number = word.substr(kGeneration.size());
            const char* const end = number.data() + number.size();
            const auto [at, error] = std::from_chars(number.data(), end, words.generation);
            if (error != std::errc{} || at != end) {
                return refused(Errc::invalid_argument, "oyat.generation is no number");
            }
            has_generation = true;
        } else if (word.starts_with(kId)) {
            words.id = word.substr(kId.size());
        }
    }
    if (!has_generation) return refused(Errc::invalid_argument, "oyat.generation is missing");
    if (!is_label(words.id)) return refused(Errc::invalid_argument, "oyat.id is no host name");
    return words;
}

std::vector<std::string> parse_module_order(std::string_view text) {
    std::vector<std::string> names;
    while (!text.empty()) {
        const std::string_view name = take_until(text, "\n");
        if (!name.empty() && name.find('/') == name.npos && name.front() != '.') names.emplace_back(name);
    }
    return names;
}

}  // namespace oyat::agent
