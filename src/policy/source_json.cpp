#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/stream_parser.hpp>
#include <optional>

#include "policy/source_tree.hpp"

namespace oyat::policy {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxDepth = 8;  // a document needs four

Place place_at(std::string_view text, std::size_t offset) {
    const std::string_view before = text.substr(0, offset);
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    return {.line = static_cast<std::uint32_t>(std::ranges::count(before, '\n') + 1),
            .column = static_cast<std::uint32_t>(offset - line_start + 1)};
}

// Walks over a text that is known to be good JSON and notes where each value begins, since the parser does
// not tell.
class Walk {
public:
    explicit Walk(std::string_view text) : text_{text} {}

    std::map<std::string, Place, std::less<>> places;
    std::optional<std::string> twice;  // the first path that was found again, with its second place

    void value(const std::string& path) {
        skip_space();
        if (const auto [known, first] = places.emplace(path, advance_place()); !first && !twice) {
            known->second = here_;
            twice = path;
        }
        switch (text_[at_]) {
            case '{': return object(path);
            case '[': return array(path);
            case '"': string(); return;
            default: at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
        }
    }

private:
    void object(const std::string& path) {
        for (++at_; next_item('}');) {
            const std::string name = string();
            skip_space();
            ++at_;  // the colon
            value(path.empty() ? name : path + "." + name);
        }
    }
    void array(const std::string& path) {
        ++at_;
        for (std::size_t index = 0; next_item(']'); ++index) value(path + "[" + std::to_string(index) + "]");
    }
    // False, and past it, at the end of the object or array.
    bool next_item(char end) {
        skip_space();
        if (text_[at_] == ',') ++at_;
        skip_space();
        if (text_[at_] != end) return true;
        ++at_;
        return false;
    }
    // The text between the quotes, escapes undone: "\u0069d" is "id".
    std::string string() {
        const std::size_t begin = at_++;
        for (; text_[at_] != '"'; ++at_) {
            if (text_[at_] == '\\') ++at_;
        }
        ++at_;
        const json::value parsed = json::parse(text_.substr(begin, at_ - begin));
        return {parsed.get_string().data(), parsed.get_string().size()};
    }
    void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size() - 1); }

    // The place of `at_`, counted on from the last one.
    Place advance_place() {
        for (; counted_ < at_; ++counted_) {
            ++here_.column;
            if (text_[counted_] == '\n') here_ = {.line = here_.line + 1, .column = 1};
        }
        return here_;
    }

    std::string_view text_;
    std::size_t at_ = 0, counted_ = 0;
    Place here_{.line = 1, .column = 1};
};

}  // namespace

std::string to_string(Place place) {
    return "line " + std::to_string(place.line) + ", column " + std::to_string(place.column);
}

Result<SourceTree> read_json(std::string_view text) {
    json::parse_options options;
    options.max_depth = kMaxDepth;
    json::stream_parser parser{{}, options};
    boost::system::error_code failed;
    std::size_t read = parser.write_some(text.data(), text.size(), failed);
    if (!failed && read < text.size()) failed = json::error::extra_data;
    if (!failed) parser.finish(failed);
    if (failed) {
        return refuse(Errc::invalid_argument, to_string(place_at(text, read)) + ": " + failed.message());
    }
    json::value whole = parser.release();
    if (!whole.is_object()) return refuse(Errc::invalid_argument, "a policy is an object");
    Walk walk{text};
    walk.value({});
    if (walk.twice) {
        return refuse(Errc::invalid_argument,
                      to_string(walk.places[*walk.twice]) + ": '" + *walk.twice + "' stands twice");
    }
    return SourceTree{.root = std::move(whole.get_object()), .places = std::move(walk.places)};
}

}  // namespace oyat::policy
