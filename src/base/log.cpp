#include "base/log.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "base/clock.hpp"
#include "base/json_escape.hpp"
#include "base/log_filter.hpp"

namespace oyat::log {
namespace {

std::atomic<Level> lowest_level{Level::info};

// Held shared by whoever writes a line.
std::shared_mutex filter_change;
Filter::Hide filter;

std::string filtered(std::initializer_list<Field> fields, const std::string& text) {
    const std::shared_lock lock{filter_change};
    if (!filter) return text;
    std::string_view sandbox;
    for (const Field& field : fields) {
        if (field.key == "sandbox") sandbox = field.value;
    }
    return filter(sandbox, text);
}

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

Filter::Filter(Hide hide) {
    const std::unique_lock lock{filter_change};
    filter = std::move(hide);
}

Filter::~Filter() {
    const std::unique_lock lock{filter_change};
    filter = {};
}

void set_level(Level lowest) noexcept {
    lowest_level = lowest;
}

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
            append_json_string(line, filtered(fields, field.value));
        } else {
            line += field.value;
        }
    }
    line += "}\n";
    // One write a line, so that lines of two threads never mix. A full pipe or a closed terminal must not
    // stop us.
    [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace oyat::log
