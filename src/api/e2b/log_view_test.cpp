#include "api/e2b/log_view.hpp"

#include <gtest/gtest.h>

#include "base/throwing.hpp"
#include "rpc/message.hpp"

namespace oyat::e2b {
namespace {

Events three() {
    Events events;
    for (int i = 1; i <= 3; ++i) {
        auto event = std::make_shared<core::Event>();
        event->type = i == 2 ? "command.failed" : "command.started";
        event->id = "ev_" + std::to_string(i);
        event->time = from_unix_millis(i * 1000);
        if (i == 2) event->fault = Fault::engine;
        event->fields = {{"sentence", "number " + std::to_string(i)}, {"pid", i}};
        events.push_back(std::move(event));
    }
    return events;
}

std::string ids(std::string_view query) {
    const LogQuery log = or_throw(LogQuery::parse(or_throw(http::Query::parse(query)), "cursor"));
    std::string all;
    for (const auto& event : select(three(), log)) all += event->id.substr(3);
    return all;
}

TEST(LogQuery, ChoosesByTimeDirectionLevelAndText) {
    EXPECT_EQ(ids(""), "123");
    EXPECT_EQ(ids("cursor=2000"), "23");
    EXPECT_EQ(ids("direction=backward"), "321");
    EXPECT_EQ(ids("direction=backward&cursor=2000"), "21");
    EXPECT_EQ(ids("limit=2"), "12");
    EXPECT_EQ(ids("level=error"), "2");
    EXPECT_EQ(ids("search=number%203"), "3");
}

TEST(LogQuery, RefusesWhatItDoesNotKnow) {
    for (const char* query : {"cursor=x", "cursor=-1", "limit=x", "direction=up", "level=loud"}) {
        EXPECT_FALSE(LogQuery::parse(or_throw(http::Query::parse(query)), "cursor").has_value()) << query;
    }
}

TEST(LogView, AnEntryHasTextFieldsOnly) {
    const boost::json::object entry = log_entry(*three()[1]);
    EXPECT_EQ(entry.at("message"), "command.failed: number 2");
    EXPECT_EQ(entry.at("level"), "error");
    EXPECT_EQ(entry.at("fields").at("pid"), "2");
    EXPECT_EQ(entry.at("fields").at("fault"), "engine");
}

TEST(LogView, ALineIsJsonInAString) {
    const boost::json::object line = log_line(*three()[0]);
    const auto inner = or_throw(rpc::parse_object(line.at("line").get_string()));
    EXPECT_EQ(inner.at("level"), "info");
    EXPECT_EQ(inner.at("logger"), "command.started");
    EXPECT_EQ(inner.at("pid"), 1);
}

}  // namespace
}  // namespace oyat::e2b
