#include "masking/expressions.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <set>
#include <utility>

namespace oyat::masking {
namespace {

constexpr std::size_t kMostExpressions = 64;
constexpr std::size_t kLongestPattern = 1024;
constexpr std::int64_t kMostMemory = 1 << 20;  // of one compiled pattern; RE2's automaton starts anew there
constexpr std::string_view kSeparators = " -./";

struct Found {
    std::size_t from;
    std::size_t to;
    std::string_view name;
};

bool is_name(std::string_view name) {
    return !name.empty() && name.size() <= 32 && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    });
}

RE2::Options options() {
    RE2::Options options;
    options.set_encoding(RE2::Options::EncodingLatin1);  // streams are bytes
    options.set_longest_match(true);
    options.set_never_nl(true);
    options.set_log_errors(false);
    options.set_max_mem(kMostMemory);
    return options;
}

// The length of the longest beginning, cut at a separator, that passes the check; 0: none does. What follows
// may look like a part of it: "DE89 3704 0044 0532 0130 00 EUR".
std::size_t checked_length(std::string_view found, bool (*check)(std::string_view)) {
    while (!found.empty()) {
        if (check == nullptr || check(found)) return found.size();
        found = found.substr(0, std::min(found.find_last_of(kSeparators), found.size()));
        if (found.find_first_of(kSeparators) == std::string_view::npos) {
            return check(found) ? found.size() : 0;
        }
    }
    return 0;
}

}  // namespace

struct Expressions::Compiled {
    std::string name;
    std::unique_ptr<RE2> pattern;
    bool (*check)(std::string_view);
    std::string_view needs;

    void search(std::string_view text, std::size_t at, std::vector<Found>& all) const {
        if (text.find(needs, at) == std::string_view::npos) return;
        re2::StringPiece match;
        while (at < text.size() && pattern->Match(text, at, text.size(), RE2::UNANCHORED, &match, 1)) {
            const auto from = static_cast<std::size_t>(match.data() - text.data());
            const std::string_view found = text.substr(from, match.size());
            if (found.empty()) return;
            if (const std::size_t length = checked_length(found, check); length > 0) {
                all.push_back({.from = from, .to = from + length, .name = name});
                at = from + length;
            } else {
                // It may have begun too early: "12 4111 1111 1111 1111".
                at = from + std::min(found.find_first_of(kSeparators), found.size() - 1) + 1;
            }
        }
    }
};

Expressions::Expressions() = default;
Expressions::~Expressions() = default;

Result<std::shared_ptr<const Expressions>> Expressions::compile(const std::vector<Expression>& expressions) {
    const auto wrong = [](const std::string& name, const std::string& why) {
        return refuse(Errc::invalid_argument, "pattern '" + name + "': " + why);
    };
    if (expressions.size() > kMostExpressions) return wrong(expressions.back().name, "more than 64 of them");
    std::shared_ptr<Expressions> made{new Expressions};
    std::set<std::string> names;
    for (const Expression& each : expressions) {
        if (!is_name(each.name)) return wrong(each.name, "a name is 1 to 32 of a-z, 0-9, - and _");
        if (!names.insert(each.name).second) return wrong(each.name, "the name is taken");
        if (each.pattern.size() > kLongestPattern) return wrong(each.name, "longer than 1024 bytes");
        auto pattern = std::make_unique<RE2>(each.pattern, options());
        if (!pattern->ok()) return wrong(each.name, pattern->error());
        if (RE2::FullMatch("", *pattern)) return wrong(each.name, "it matches an empty text");
        made->all_.push_back(
            {.name = each.name, .pattern = std::move(pattern), .check = each.check, .needs = each.needs});
    }
    return made;
}

void Expressions::search(std::string_view text, std::size_t start, Cover& cover) const {
    std::vector<Found> found;
    for (const Compiled& each : all_) each.search(text, start, found);
    std::ranges::sort(found, {}, [](const Found& each) { return std::pair{each.to, each.from}; });
    for (const Found& each : found) cover.add(each.from - start, each.to - start, each.name);
}

}  // namespace oyat::masking
