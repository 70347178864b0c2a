#include "core/event_json.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace oyat::core {
namespace {

Event event(boost::json::object fields) {
    Event e;
    e.type = "command.started";
    e.tenant = "acme";
    e.by = Witness::agent;
    e.fields = std::move(fields);
    e.id = "ev_7";
    e.seq = 7;
    return e;
}

TEST(EventJson, HasTheFixedFieldsAndThenTheTypesOwn) {
    const auto json = boost::json::parse(to_json_text(event({{"pid", 212}}))).as_object();
    EXPECT_EQ(json.at("type").as_string(), "command.started");
    EXPECT_EQ(json.at("seq").as_int64(), 7);
    EXPECT_EQ(json.at("by").as_string(), "agent");
    EXPECT_TRUE(json.at("sandbox").is_null());
    EXPECT_TRUE(json.at("fault").is_null());
    EXPECT_EQ(json.at("pid").as_int64(), 212);
}

TEST(EventJson, AFieldCannotOverwriteWhoSawIt) {
    const auto json = boost::json::parse(to_json_text(event({{"by", "host"}, {"seq", 1}}))).as_object();
    EXPECT_EQ(json.at("by").as_string(), "agent");
    EXPECT_EQ(json.at("seq").as_int64(), 7);
}

TEST(EventJson, StaysOneValidLineWhateverASandboxNamesItsFiles) {
    const std::string text =
        to_json_text(event({{"path", "/tmp/a\nb\xff\x01\"{"}, {"argv", {"x\x80", nullptr, 1.5}}}));
    EXPECT_EQ(text.find('\n'), std::string::npos);
    const auto json = boost::json::parse(text).as_object();
    EXPECT_EQ(json.at("path").as_string(), "/tmp/a\nb\xEF\xBF\xBD\x01\"{");
    EXPECT_EQ(json.at("argv").as_array().size(), 3u);
}

}  // namespace
}  // namespace oyat::core
