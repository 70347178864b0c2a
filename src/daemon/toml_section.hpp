#pragma once

#include "base/toml.hpp"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/throwing.hpp"

// For config.cpp alone: toml++ takes seconds to compile.
namespace oyat::daemon {

// One table of the configuration. Every known setting is asked for by its name; what nobody asked for is
// refused, since a misspelt limit would be none. Mistakes are thrown as Error{invalid_argument} that name the
// setting.
class TomlSection {
public:
    explicit TomlSection(const toml::table& table) : table_{table} {}

    template <class T, class Take>
    void value(std::string_view key, Take take) {
        if (const toml::node* node = find(key)) in(key, [&] { take(convert<T>(*node)); });
    }
    // A text that `parse` turns into what is kept: a size, a time.
    template <class T, class Parse>
    void parsed(std::string_view key, T& into, Parse parse) {
        value<std::string>(key, [&](const std::string& text) { into = or_throw(parse(text)); });
    }
    void text(std::string_view key, std::string& into) {
        value<std::string>(key, [&](std::string text) { into = std::move(text); });
    }
    void texts(std::string_view key, std::vector<std::string>& into) {
        if (const toml::node* node = find(key)) {
            in(key, [&] {
                into.clear();
                for (const toml::node& item : convert<const toml::array&>(*node))
                    into.push_back(convert<std::string>(item));
            });
        }
    }
    // All settings of a table whose names are free: environment variables.
    void pairs(std::string_view key, std::map<std::string, std::string>& into) {
        if (const toml::node* node = find(key)) {
            in(key, [&] {
                for (const auto& [name, item] : convert<const toml::table&>(*node)) {
                    into.insert_or_assign(std::string{name.str()}, convert<std::string>(item));
                }
            });
        }
    }
    // The same for lists of texts.
    void lists(std::string_view key, std::map<std::string, std::vector<std::string>>& into) {
        section(key, [&](TomlSection& inner) {
            for (const auto& [name, item] : inner.table_)
                inner.texts(name.str(), into[std::string{name.str()}]);
        });
    }
    // A setting that another reader takes.
    void leave(std::string_view key) { asked_.emplace(key); }
    void section(std::string_view key, const std::function<void(TomlSection&)>& take) {
        const toml::node* node = find(key);
        if (node == nullptr) return;
        in(key, [&] {
            TomlSection inner{convert<const toml::table&>(*node)};
            take(inner);
            inner.refuse_unknown();
        });
    }
    void refuse_unknown() const {
        for (const auto& [key, node] : table_) {
            if (asked_.contains(key.str())) continue;
            const std::string line = std::to_string(node.source().begin.line);
            throw Error{Errc::invalid_argument, Fault::oyat_operator,
                        "unknown setting '" + std::string{key.str()} + "' in line " + line};
        }
    }

private:
    const toml::node* find(std::string_view key) {
        asked_.emplace(key);
        return table_.get(key);
    }

    template <class T>
    static T convert(const toml::node& node) {
        const auto wrong = [](std::string_view wanted) {
            return Error{Errc::invalid_argument, Fault::oyat_operator, std::string{wanted} + " is expected"};
        };
        if constexpr (std::is_same_v<T, const toml::array&>) {
            if (const toml::array* array = node.as_array()) return *array;
            throw wrong("a list");
        } else if constexpr (std::is_same_v<T, const toml::table&>) {
            if (const toml::table* table = node.as_table()) return *table;
            throw wrong("a table");
        } else if constexpr (std::is_same_v<T, std::string>) {
            if (const auto* text = node.as_string()) return text->get();
            throw wrong("a text in quotes");
        } else if constexpr (std::is_same_v<T, bool>) {
            if (const auto* flag = node.as_boolean()) return flag->get();
            throw wrong("true or false");
        } else {
            if (const auto number = node.value<T>()) return *number;
            throw wrong("a number in the possible range");
        }
    }

    const toml::table& table_;
    std::set<std::string, std::less<>> asked_;
};

}  // namespace oyat::daemon
