#include "api/e2b/sandbox_list.hpp"

#include <gtest/gtest.h>

#include "base/id.hpp"
#include "base/throwing.hpp"

namespace oyat::e2b {
namespace {

Result<ListQuery> parse(std::string_view query) {
    return ListQuery::parse(or_throw(http::Query::parse(query)));
}

std::vector<core::SandboxRecord> three() {
    std::vector<core::SandboxRecord> records(3);
    for (std::size_t i = 0; i < records.size(); ++i) {
        records[i].id = new_sandbox_id();
        records[i].started = from_unix_millis(1000 * static_cast<std::int64_t>(i));
    }
    return records;
}

std::vector<const core::SandboxRecord*> pointers(const std::vector<core::SandboxRecord>& records) {
    std::vector<const core::SandboxRecord*> list;
    for (const auto& record : records) list.push_back(&record);
    return list;
}

TEST(ListQuery, MetadataIsDecodedThreeTimes) {
    const ListQuery query = parse("metadata=a%3Db%252520c%252526d").value();
    EXPECT_EQ(query.metadata.at("a"), "b c&d");
    EXPECT_EQ(parse("metadata=k%3D%2525252B%2525253D").value().metadata.at("k"), "%2B%3D");
    EXPECT_EQ(parse("metadata=a%3D1%26b%3D2").value().metadata.size(), 2u);
    EXPECT_EQ(parse("metadata=a%3D%252B").value().metadata.at("a"), "+");
}

TEST(ListQuery, StatesAreOneListOrSeveral) {
    EXPECT_EQ(parse("state=running,paused").value().states.size(), 2u);
    EXPECT_EQ(parse("state=running&state=paused").value().states.size(), 2u);
    EXPECT_TRUE(parse("").value().states.empty());
    EXPECT_FALSE(parse("state=ended").has_value());
}

TEST(ListQuery, RefusesWhatIsOutOfRange) {
    for (const char* query : {"limit=0", "limit=101", "limit=x", "order=up", "startedAfter=yesterday",
                              "nextToken=x", "nextToken=1d5.notanid", "metadata=a%3D%2525zz"}) {
        EXPECT_FALSE(parse(query).has_value()) << query;
    }
}

TEST(ListCursor, BelongsToItsOrder) {
    const ListCursor cursor{ListOrder::newest_first, 1700000000123, new_sandbox_id()};
    EXPECT_TRUE(parse("nextToken=" + cursor.text()).has_value());
    EXPECT_FALSE(parse("order=asc&nextToken=" + cursor.text()).has_value());
    EXPECT_EQ(ListCursor::parse(cursor.text()).value().id, cursor.id);
}

TEST(ListPage, GoesThroughAllOnceInEitherOrder) {
    const std::vector<core::SandboxRecord> records = three();
    for (const ListOrder order : {ListOrder::newest_first, ListOrder::oldest_first}) {
        ListQuery query;
        query.order = order;
        query.limit = 1;
        std::vector<std::string> seen;
        for (int pages = 0; pages < 4; ++pages) {
            const ListPage page = page_of(pointers(records), query);
            for (const auto* record : page.records) seen.push_back(record->id);
            query.cursor = page.next;
            if (!page.next) break;
        }
        ASSERT_EQ(seen.size(), 3u);
        EXPECT_EQ(seen.front(), order == ListOrder::newest_first ? records[2].id : records[0].id);
    }
}

TEST(ListPage, SandboxesOfOneMomentAreNeitherLostNorDoubled) {
    std::vector<core::SandboxRecord> records = three();
    for (auto& record : records) record.started = from_unix_millis(7);
    ListQuery query;
    query.limit = 2;
    const ListPage first = page_of(pointers(records), query);
    query.cursor = first.next;
    const ListPage second = page_of(pointers(records), query);
    EXPECT_EQ(first.records.size() + second.records.size(), 3u);
    EXPECT_FALSE(second.next);
}

TEST(ListPage, StartedAfterIsExclusive) {
    const std::vector<core::SandboxRecord> records = three();
    ListQuery query;
    query.started_after = from_unix_millis(1000);
    EXPECT_EQ(page_of(pointers(records), query).records.size(), 1u);
}

}  // namespace
}  // namespace oyat::e2b
