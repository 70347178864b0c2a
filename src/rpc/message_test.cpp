#include "rpc/message.hpp"

#include <gtest/gtest.h>

#include "base/throwing.hpp"

namespace oyat::rpc {
namespace {

boost::json::object object(std::string_view text) {
    return or_throw(parse_object(text));
}

TEST(Message, ReadsFieldsInEitherSpelling) {
    const auto camel = object(R"({"watcherId":"a","includeEntry":true})");
    const auto snake = object(R"({"watcher_id":"a","include_entry":true})");
    for (const auto* json : {&camel, &snake}) {
        EXPECT_EQ(Message{*json}.string("watcherId"), "a");
        EXPECT_TRUE(Message{*json}.boolean("includeEntry"));
    }
}

TEST(Message, MissingAndNullFieldsAreDefaults) {
    const auto json = object(R"({"a":null,"unknown":{"deep":[1]}})");
    const Message message{json};
    EXPECT_EQ(message.string("a"), "");
    EXPECT_FALSE(message.has("a"));
    EXPECT_EQ(message.optional_string("b"), std::nullopt);
    EXPECT_TRUE(message.boolean("c", true));
    EXPECT_EQ(message.uint32("d"), 0u);
    EXPECT_TRUE(message.strings("e").empty());
    EXPECT_TRUE(message.string_map("f").empty());
    EXPECT_FALSE(message.message("g"));
}

TEST(Message, NumbersComeInThreeForms) {
    EXPECT_EQ(Message{object(R"({"pid":42})")}.uint32("pid"), 42u);
    EXPECT_EQ(Message{object(R"({"pid":"42"})")}.uint32("pid"), 42u);
    EXPECT_EQ(Message{object(R"({"pid":4.2e1})")}.uint32("pid"), 42u);
    for (const char* text :
         {"-1", "4294967296", "1.5", "\"x\"", "\"\"", "true", "[]", "1e300", "9007199254740993"}) {
        const auto json = object(std::string{R"({"pid":)"} + text + "}");
        EXPECT_THROW((void)Message{json}.uint32("pid"), Error) << text;
    }
}

TEST(Message, EnumsComeAsNameOrNumber) {
    const auto number_of = [](std::string_view text) {
        const auto json = object(text);
        return Message{json}.enumeration("signal", {{"SIGNAL_SIGKILL", 9}});
    };
    EXPECT_EQ(number_of(R"({"signal":"SIGNAL_SIGKILL"})"), 9);
    EXPECT_EQ(number_of(R"({"signal":9})"), 9);
    EXPECT_EQ(number_of(R"({})"), 0);
    EXPECT_THROW(number_of(R"({"signal":"SIGNAL_SIGSTOP"})"), Error);
}

TEST(Message, AWrongTypeIsNamed) {
    const auto json = object(R"({"cmd":1,"args":"x","envs":{"A":1},"stdin":"yes","data":"a?"})");
    const Message message{json};
    const auto refusal = [](auto read) -> std::string {
        try {
            read();
            return "accepted";
        } catch (const Error& error) {
            return error.message();
        }
    };
    EXPECT_EQ(refusal([&] { (void)message.string("cmd"); }), "field 'cmd' is not a string");
    EXPECT_EQ(refusal([&] { (void)message.strings("args"); }), "field 'args' is not a list");
    EXPECT_EQ(refusal([&] { (void)message.string_map("envs"); }), "field 'envs' is not a string");
    EXPECT_EQ(refusal([&] { (void)message.boolean("stdin"); }), "field 'stdin' is not a boolean");
    EXPECT_EQ(refusal([&] { (void)message.bytes("data"); }),
              "field 'data': character that base64 does not have");
}

TEST(ParseObject, RefusesWhatIsNoObject) {
    std::string deep = "{\"a\":";
    for (int i = 0; i < 1000; ++i) deep += "[";
    for (const char* text :
         {"", "[]", "1", "{", "{\"a\":NaN}", "{\"a\":1}x", "{\"a\":\"\xFF\"}", deep.c_str()}) {
        EXPECT_FALSE(parse_object(text).has_value()) << std::string_view{text}.substr(0, 20);
    }
}

TEST(ParseObject, OfTwoEqualKeysTheLastCounts) {
    EXPECT_EQ(Message{object(R"({"a":"1","a":"2"})")}.string("a"), "2");
}

}  // namespace
}  // namespace oyat::rpc
