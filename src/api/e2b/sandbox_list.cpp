#include "api/e2b/sandbox_list.hpp"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "api/e2b/timestamp.hpp"
#include "base/id.hpp"
#include "base/throwing.hpp"

namespace oyat::e2b {
namespace {

constexpr std::size_t kMaxLimit = 100;
constexpr std::string_view kCursorVersion = "1";

[[noreturn]] void invalid(std::string sentence) {
    throw Error{Errc::invalid_argument, std::move(sentence)};
}

ListOrder order_of(std::string_view text) {
    if (text == "desc") return ListOrder::newest_first;
    if (text == "asc") return ListOrder::oldest_first;
    invalid("'order' is neither asc nor desc");
}

// Lists come as one comma-joined value, or repeated.
std::vector<core::SandboxState> states_of(const http::Query& query) {
    std::vector<core::SandboxState> states;
    for (const auto& [name, value] : query.all()) {
        if (name != "state") continue;
        std::string_view rest = value;
        while (!rest.empty()) {
            const std::size_t comma = std::min(rest.find(','), rest.size());
            const std::string_view word = rest.substr(0, comma);
            rest.remove_prefix(std::min(comma + 1, rest.size()));
            if (word == "running") {
                states.push_back(core::SandboxState::running);
            } else if (word == "paused") {
                states.push_back(core::SandboxState::paused);
            } else {
                invalid("'state' is neither running nor paused");
            }
        }
    }
    return states;
}

std::size_t limit_of(std::string_view text) {
    std::size_t limit = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit);
    if (error != std::errc{} || end != text.data() + text.size() || limit < 1 || limit > kMaxLimit) {
        invalid("'limit' is no number from 1 to 100");
    }
    return limit;
}

ListQuery read(const http::Query& query) {
    ListQuery list;
    if (const auto text = query.get("metadata")) list.metadata = or_throw(parse_metadata_filter(*text));
    list.states = states_of(query);
    list.template_ref = query.get("template").value_or("");
    if (const auto text = query.get("order"); text && !text->empty()) list.order = order_of(*text);
    if (const auto text = query.get("startedAfter")) list.started_after = or_throw(parse_timestamp(*text));
    if (const auto text = query.get("limit")) list.limit = limit_of(*text);
    if (const auto text = query.get("nextToken"); text && !text->empty()) {
        list.cursor = or_throw(ListCursor::parse(*text));
        if (list.cursor->order != list.order) invalid("'nextToken' belongs to a list in the other order");
    }
    return list;
}

auto key_of(const core::SandboxRecord& record) {
    return std::tuple{unix_millis(record.started), std::string_view{record.id}};
}

}  // namespace

std::string ListCursor::text() const {
    return std::string{kCursorVersion} + (order == ListOrder::newest_first ? "d" : "a") +
           std::to_string(started_ms) + "." + id;
}

Result<ListCursor> ListCursor::parse(std::string_view text) {
    const auto refused = [] {
        return refuse(Errc::invalid_argument, "'nextToken' is none that we gave out");
    };
    if (!text.starts_with(kCursorVersion)) return refused();
    text.remove_prefix(kCursorVersion.size());
    if (!text.starts_with('d') && !text.starts_with('a')) return refused();
    ListCursor cursor;
    cursor.order = text.starts_with('d') ? ListOrder::newest_first : ListOrder::oldest_first;
    text.remove_prefix(1);
    const std::size_t dot = text.find('.');
    if (dot == std::string_view::npos) return refused();
    const auto [end, error] = std::from_chars(text.data(), text.data() + dot, cursor.started_ms);
    cursor.id = std::string{text.substr(dot + 1)};
    if (error != std::errc{} || end != text.data() + dot || !is_sandbox_id(cursor.id)) return refused();
    return cursor;
}

Result<ListQuery> ListQuery::parse(const http::Query& query) {
    try {
        return read(query);
    } catch (Error& error) {
        return std::unexpected{std::move(error)};
    }
}

Result<std::map<std::string, std::string>> parse_metadata_filter(std::string_view text) {
    std::map<std::string, std::string> filter;
    const Result<http::Query> pairs = http::Query::parse(text);
    if (!pairs) return refuse(Errc::invalid_argument, "'metadata' is no list of encoded pairs");
    for (const auto& [name, value] : pairs->all()) {
        Result<std::string> key = http::percent_decode(name);
        Result<std::string> content = http::percent_decode(value);
        if (!key || !content) return refuse(Errc::invalid_argument, "'metadata' has a broken escape");
        filter.insert_or_assign(*std::move(key), *std::move(content));
    }
    return filter;
}

ListPage page_of(std::vector<const core::SandboxRecord*> records, const ListQuery& query) {
    if (query.started_after) {
        std::erase_if(records, [&](const auto* record) { return record->started <= *query.started_after; });
    }
    const bool newest_first = query.order == ListOrder::newest_first;
    std::ranges::sort(records, [&](const auto* a, const auto* b) {
        return newest_first ? key_of(*a) > key_of(*b) : key_of(*a) < key_of(*b);
    });
    if (query.cursor) {
        const std::tuple end{query.cursor->started_ms, std::string_view{query.cursor->id}};
        std::erase_if(records, [&](const auto* record) {
            return newest_first ? key_of(*record) >= end : key_of(*record) <= end;
        });
    }
    ListPage page;
    if (records.size() > query.limit) {
        records.resize(query.limit);
        const core::SandboxRecord& last = *records.back();
        page.next = ListCursor{query.order, unix_millis(last.started), last.id};
    }
    page.records = std::move(records);
    return page;
}

}  // namespace oyat::e2b
