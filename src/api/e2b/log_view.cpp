#include "api/e2b/log_view.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <charconv>

#include "base/throwing.hpp"
#include "core/event_json.hpp"

namespace oyat::e2b {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxLimit = 1000;

[[noreturn]] void invalid(std::string sentence) {
    throw Error{Errc::invalid_argument, std::move(sentence)};
}

std::int64_t number_of(std::string_view text, std::string_view name) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number < 0) {
        invalid("'" + std::string{name} + "' is no number");
    }
    return number;
}

LogLevel level_of(std::string_view word) {
    if (word == "debug") return LogLevel::debug;
    if (word == "info") return LogLevel::info;
    if (word == "warn") return LogLevel::warn;
    if (word == "error") return LogLevel::error;
    invalid("'level' is none of debug, info, warn, error");
}

// What went wrong by the client's or the command's own doing is a warning, the rest of the failures an error.
LogLevel level_of(const core::Event& event) {
    if (!event.fault) return LogLevel::info;
    const bool theirs = *event.fault == Fault::client || *event.fault == Fault::command;
    return theirs ? LogLevel::warn : LogLevel::error;
}

std::string_view word_of(LogLevel level) {
    switch (level) {
        case LogLevel::debug: return "debug";
        case LogLevel::info: return "info";
        case LogLevel::warn: return "warn";
        case LogLevel::error: return "error";
    }
    return "info";
}

std::string text_of(const json::value& value) {
    if (value.is_string()) return std::string{value.get_string()};
    std::string text;
    core::append_json(text, value);
    return text;
}

// The type, and of its fields the one that says most.
std::string message_of(const core::Event& event) {
    for (const char* name : {"sentence", "detail", "argv", "path", "limit", "host", "name"}) {
        const json::value* value = event.fields.if_contains(name);
        if (value != nullptr && !value->is_null()) return event.type + ": " + text_of(*value);
    }
    return event.type;
}

}  // namespace

Result<LogQuery> LogQuery::parse(const http::Query& query, std::string_view time_name) {
    try {
        LogQuery log;
        if (const auto text = query.get(time_name)) log.from_ms = number_of(*text, time_name);
        if (const auto text = query.get("limit")) {
            log.limit = std::min<std::size_t>(kMaxLimit, static_cast<std::size_t>(number_of(*text, "limit")));
        }
        if (const auto text = query.get("direction"); text && !text->empty()) {
            if (*text != "forward" && *text != "backward")
                invalid("'direction' is neither forward nor backward");
            log.backward = *text == "backward";
        }
        if (const auto text = query.get("level"); text && !text->empty()) log.lowest = level_of(*text);
        log.search = query.get("search").value_or("");
        return log;
    } catch (Error& error) {
        return std::unexpected{std::move(error)};
    }
}

Events select(const Events& events, const LogQuery& query) {
    Events chosen;
    const auto take = [&](const std::shared_ptr<const core::Event>& event) {
        const std::int64_t time = unix_millis(event->time);
        if (query.from_ms && (query.backward ? time > *query.from_ms : time < *query.from_ms)) return;
        if (level_of(*event) < query.lowest || chosen.size() >= query.limit) return;
        if (!query.search.empty() && message_of(*event).find(query.search) == std::string::npos) return;
        chosen.push_back(event);
    };
    if (query.backward) {
        std::for_each(events.rbegin(), events.rend(), take);
    } else {
        std::ranges::for_each(events, take);
    }
    return chosen;
}

json::object log_entry(const core::Event& event) {
    json::object fields{{"event", event.id}, {"by", core::to_string(event.by)}};
    for (const auto& field : event.fields) fields[field.key()] = text_of(field.value());
    if (event.fault) fields["fault"] = to_string(*event.fault);
    return {{"timestamp", to_rfc3339(event.time)},
            {"message", message_of(event)},
            {"level", word_of(level_of(event))},
            {"fields", std::move(fields)}};
}

json::object log_line(const core::Event& event) {
    json::object line = {
        {"level", word_of(level_of(event))}, {"logger", event.type}, {"message", message_of(event)}};
    for (const auto& field : event.fields) line.emplace(field.key(), field.value());
    std::string text;
    core::append_json(text, line);
    return {{"timestamp", to_rfc3339(event.time)}, {"line", std::move(text)}};
}

}  // namespace oyat::e2b
