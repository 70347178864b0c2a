#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

// The daemons' own log: one JSON line an entry, on standard error (systemd and `scripts/serve` keep it).
// Promise: no tenant content. Ids, counts, times, error sentences of ours; never argv, output, file names,
// environment, tokens.
namespace oyat::log {

enum class Level { debug, info, warn, error };

// One `"key":value` of a line. Numbers and booleans stay bare.
struct Field {
    template <std::integral T>
    Field(std::string_view name, T number) : key{name}, value{std::to_string(number)}, quoted{false} {}
    Field(std::string_view name, bool flag) : key{name}, value{flag ? "true" : "false"}, quoted{false} {}
    Field(std::string_view name, std::string_view text) : key{name}, value{text} {}
    Field(std::string_view name, const char* text) : key{name}, value{text} {}
    Field(std::string_view name, const std::string& text) : key{name}, value{text} {}

    std::string key;
    std::string value;
    bool quoted = true;
};

void set_level(Level lowest) noexcept;
void write(Level level, std::string_view message, std::initializer_list<Field> fields);

inline void debug(std::string_view message, std::initializer_list<Field> fields = {}) {
    write(Level::debug, message, fields);
}
inline void info(std::string_view message, std::initializer_list<Field> fields = {}) {
    write(Level::info, message, fields);
}
inline void warn(std::string_view message, std::initializer_list<Field> fields = {}) {
    write(Level::warn, message, fields);
}
inline void error(std::string_view message, std::initializer_list<Field> fields = {}) {
    write(Level::error, message, fields);
}

}  // namespace oyat::log
