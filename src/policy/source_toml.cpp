#include "base/toml.hpp"

#include <boost/json/array.hpp>
#include <cstdio>

#include "policy/source_tree.hpp"

namespace oyat::policy {
namespace {

namespace json = boost::json;

Place place_of(const toml::node& node) {
    return {.line = node.source().begin.line, .column = node.source().begin.column};
}

// As RFC 3339 writes it. A time without a zone would be another one on each machine, so it becomes a text
// that nobody takes for a time.
std::string text_of(const toml::date_time& time) {
    char text[64];
    std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d", time.date.year, time.date.month,
                  time.date.day, time.time.hour, time.time.minute, time.time.second);
    std::string whole = text;
    if (!time.offset) return whole;
    const int minutes = time.offset->minutes;
    std::snprintf(text, sizeof text, "%c%02d:%02d", minutes < 0 ? '-' : '+', std::abs(minutes) / 60,
                  std::abs(minutes) % 60);
    return whole + text;
}

class Conversion {
public:
    explicit Conversion(SourceTree& tree) : tree_{tree} {}

    json::object table(const toml::table& from, const std::string& path) {
        json::object made;
        for (const auto& [key, node] : from) {
            const std::string name{key.str()};
            made[name] = value(node, path.empty() ? name : path + "." + name);
        }
        return made;
    }

private:
    json::value value(const toml::node& node, const std::string& path) {
        tree_.places.emplace(path, place_of(node));
        if (const toml::table* inner = node.as_table()) return table(*inner, path);
        if (const toml::array* items = node.as_array()) {
            json::array made;
            for (const toml::node& item : *items)
                made.push_back(value(item, path + "[" + std::to_string(made.size()) + "]"));
            return made;
        }
        if (const auto* text = node.as_string()) return json::value(text->get());
        if (const auto* number = node.as_integer()) return json::value(number->get());
        if (const auto* flag = node.as_boolean()) return json::value(flag->get());
        if (const auto* real = node.as_floating_point()) return json::value(real->get());
        if (const auto* time = node.as_date_time()) return json::value(text_of(time->get()));
        return json::value(nullptr);  // a date or a time of day alone: no field takes it
    }

    SourceTree& tree_;
};

}  // namespace

Result<SourceTree> read_toml(std::string_view text, std::string_view table) {
    SourceTree tree;
    Conversion conversion{tree};
    // toml++ 3.3 has no answer for some other letters outside quotes: what it does then is undefined. The
    // operator's own file, of which a table is read, is trusted with that.
    for (std::uint64_t line = 1; const char c : text) {
        if (c == '\n') ++line;
        if ((static_cast<unsigned char>(c) & 0x80) == 0 || !table.empty()) continue;
        return refuse(Errc::invalid_argument,
                      "line " + std::to_string(line) +
                          ": only ASCII is read here; write other letters as \\u00e9 in quotes");
    }
    try {
        const toml::table whole = toml::parse(text);
        const toml::table* wanted = table.empty() ? &whole : whole.get_as<toml::table>(table);
        if (wanted != nullptr) tree.root = conversion.table(*wanted, {});
    } catch (const toml::parse_error& error) {
        const toml::source_position at = error.source().begin;
        return refuse(Errc::invalid_argument, to_string(Place{.line = at.line, .column = at.column}) + ": " +
                                                  std::string{error.description()});
    } catch (const Error& error) {
        return refuse(error.code(), error.message());
    }
    return tree;
}

}  // namespace oyat::policy
