#include "base/log.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>

#include "base/clock.hpp"
#include "base/json_escape.hpp"

namespace oyat::log {
namespace {

std::atomic<Level> lowest_level{Level::info};

std::string_view name_of(Level level) {
    switch (level) {
        case Level::debug: return "debug";
        case Level::info: return "info";
        case Level::warn: return "warn";
        case Level::error: return "error";
    }
    return "error";
}

}  // namespace

void set_level(Level lowest) noexcept { lowest_level = lowest; }

void write(Level level, std::string_view message, std::initializer_list<Field> fields) {
    if (level < lowest_level.load(std::memory_order_relaxed)) return;
    std::string line = "{\"t\":\"" + to_rfc3339(std::chrono::system_clock::now()) + "\",\"level\":\"";
    line += name_of(level);
    line += "\",\"msg\":";
    append_json_string(line, message);
    for (const Field& field : fields) {
        line += ',';
        append_json_string(line, field.key);
        line += ':';
        if (field.quoted) {
            append_json_string(line, field.value);
        } else {
            line += field.value;
        }
    }
    line += "}\n";
    // One write a line, so that lines of two threads never mix. A full pipe or a closed terminal must not stop us.
    [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace oyat::log
