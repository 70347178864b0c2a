#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "core/sandbox_record.hpp"
#include "http/url.hpp"

namespace oyat::e2b {

enum class ListOrder { newest_first, oldest_first };

// Where a page ended; the next begins behind it. The text form is opaque to clients.
struct ListCursor {
    ListOrder order = ListOrder::newest_first;
    std::int64_t started_ms = 0;
    std::string id;

    [[nodiscard]] std::string text() const;
    static Result<ListCursor> parse(std::string_view text);
};

// The query of "list sandboxes".
struct ListQuery {
    std::map<std::string, std::string> metadata;  // all must match
    std::vector<core::SandboxState> states;       // empty: running and paused
    std::string template_ref;
    ListOrder order = ListOrder::newest_first;
    std::optional<WallTime> started_after;
    std::size_t limit = 100;
    std::optional<ListCursor> cursor;

    static Result<ListQuery> parse(const http::Query& query);
};

// "a%3Db": metadata pairs are URL-encoded once more as a whole, and so is each name and value in them.
[[nodiscard]] Result<std::map<std::string, std::string>> parse_metadata_filter(std::string_view text);

// One page, and where it ended when there is more.
struct ListPage {
    std::vector<const core::SandboxRecord*> records;
    std::optional<ListCursor> next;
};

// Filters by time, sorts by start (ties by id) and cuts out the page. The records outlive the page.
[[nodiscard]] ListPage page_of(std::vector<const core::SandboxRecord*> records, const ListQuery& query);

}  // namespace oyat::e2b
