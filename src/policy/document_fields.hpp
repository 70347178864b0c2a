#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/result.hpp"
#include "base/units.hpp"
#include "policy/source_tree.hpp"

// For the reader of documents alone.
namespace oyat::policy {

namespace json = boost::json;

template <class E>
struct Word {
    std::string_view text;
    E value;
};
// The fields of one object, asked for by name. What nobody asked for is refused: a misspelt criterion would
// be none, and the rule wider than its author thinks.
class Fields {
public:
    using Places = std::map<std::string, Place, std::less<>>;

    Fields(const json::object& object, std::string path, const Places& places)
        : object_{object}, path_{std::move(path)}, places_{places} {}

    [[noreturn]] void mistake(std::string_view field, std::string_view sentence) const {
        const std::string path = path_of(field);
        const auto place = places_.find(path);
        std::string whole = place == places_.end() ? std::string{} : to_string(place->second) + ": ";
        if (!path.empty()) whole += path + ": ";
        throw Error{Errc::invalid_argument, whole.append(sentence)};
    }
    [[nodiscard]] const json::value* find(std::string_view name) {
        asked_.emplace(name);
        return object_.if_contains(name);
    }
    [[nodiscard]] std::optional<std::string> text(std::string_view name, std::size_t most = 255) {
        const json::value* value = find(name);
        if (value == nullptr) return std::nullopt;
        if (!value->is_string()) mistake(name, "a text is expected");
        if (value->get_string().size() > most) mistake(name, "at most " + std::to_string(most) + " bytes");
        return std::string{value->get_string().data(), value->get_string().size()};
    }
    template <class E, std::size_t N>
    [[nodiscard]] std::optional<E> word(std::string_view name, const Word<E> (&words)[N]) {
        const std::optional<std::string> given = text(name);
        if (!given) return std::nullopt;
        std::string known;
        for (const Word<E>& each : words) {
            if (each.text == *given) return each.value;
            known += (known.empty() ? "" : ", ") + std::string{each.text};
        }
        mistake(name, "'" + *given + "' is not one of " + known);
    }
    // Each item of a list, or the one value that stands alone.
    template <class Take>
    void each(std::string_view name, Take take) {
        const json::value* value = find(name);
        if (value == nullptr) return;
        if (!value->is_array()) return take(std::string{name}, *value);
        if (value->get_array().empty()) mistake(name, "an empty list matches nothing; leave it out");
        for (std::size_t at = 0; at < value->get_array().size(); ++at)
            take(std::string{name} + "[" + std::to_string(at) + "]", value->get_array()[at]);
    }
    template <class Take>
    void each_text(std::string_view name, Take take) {
        each(name, [&](const std::string& field, const json::value& value) {
            if (!value.is_string()) mistake(field, "a text is expected");
            take(field, std::string_view{value.get_string()});
        });
    }
    [[nodiscard]] std::uint64_t bytes(std::string_view name) {
        const json::value* value = find(name);
        if (value == nullptr) return 0;
        if (!value->is_string()) return positive(name, *value, std::numeric_limits<std::int64_t>::max());
        const Result<std::uint64_t> size = parse_bytes(value->get_string());
        if (!size) mistake(name, size.error().message());
        if (*size == 0) mistake(name, "0 would be no bound; to allow nothing, deny");
        return *size;
    }
    [[nodiscard]] bool flag(std::string_view name) {
        const json::value* value = find(name);
        if (value != nullptr && !value->is_bool()) mistake(name, "true or false is expected");
        return value != nullptr && value->get_bool();
    }
    [[nodiscard]] std::uint32_t count(std::string_view name) {
        const json::value* value = find(name);
        return value == nullptr ? 0 : static_cast<std::uint32_t>(positive(name, *value, 1'000'000'000));
    }
    [[nodiscard]] Fields inner(const std::string& field, const json::value& value) const {
        if (!value.is_object()) mistake(field, "a table is expected");
        return {value.get_object(), path_of(field), places_};
    }
    void done() const {
        for (const auto& [name, value] : object_) {
            if (!asked_.contains(name)) mistake(name, "no such field");
        }
    }
    // What `parse` makes of a text, its refusal told with the place.
    template <class T>
    T accept(std::string_view field, Result<T> result) const {
        if (!result) mistake(field, result.error().message());
        return *std::move(result);
    }

private:
    [[nodiscard]] std::string path_of(std::string_view field) const {
        if (path_.empty() || field.empty()) return path_ + std::string{field};
        return path_ + "." + std::string{field};
    }
    std::uint64_t positive(std::string_view name, const json::value& value, std::uint64_t most) const {
        boost::system::error_code failed;
        const auto number = value.to_number<std::uint64_t>(failed);
        if (failed || number == 0 || number > most) mistake(name, "a whole number above 0 is expected");
        return number;
    }

    const json::object& object_;
    std::string path_;
    const Places& places_;
    std::set<std::string, std::less<>> asked_;
};

}  // namespace oyat::policy
