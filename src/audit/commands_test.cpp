#include "audit/commands.hpp"

#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

#include "audit/log.hpp"
#include "audit/record_json.hpp"
#include "audit/test_files.hpp"

namespace oyat::audit {
namespace {

class CommandsTest : public testing::Test {
protected:
    void write(std::string_view type, std::string_view fields) {
        log.append(std::string{R"({"v":1,"type":")"} + std::string{type} + "\"," + std::string{fields} + "}");
    }
    std::vector<boost::json::object> commands() {
        std::vector<boost::json::object> all;
        for_each_command(files.directory(), "i1",
                         [&](const boost::json::object& command) { all.push_back(command); });
        return all;
    }
    std::string outcome(std::string_view exited) {
        write("command.requested", R"("id":"ev_1","argv":["x"])");
        write("command.exited", R"("id":"ev_3","command":"ev_1",)" + std::string{exited});
        return text_of(commands().back(), "outcome");
    }

    SystemClock clock;
    TestFiles files;
    Log log{"i1", 1, files.open("i1", 1), clock};
};

TEST_F(CommandsTest, JoinsWhatTheEventsOfACommandSay) {
    write("sandbox.created", R"("id":"ev_0","engine":"jail","boundary":"shared-kernel")");
    write("command.requested",
          R"("id":"ev_1","argv":["npm","ci"],"cwd":"/app","key":"key_1","verdict":{"action":"allow"})");
    write("command.started", R"("id":"ev_2","command":"ev_1","pid":212)");
    write("connect.closed", R"("id":"ev_3","host":"packages.example","port":443,"up":10,"down":20)");
    write("connect.closed", R"("id":"ev_4","host":"packages.example","port":443,"up":1,"down":2)");
    write("command.exited",
          R"("id":"ev_5","command":"ev_1","pid":212,"exit":0,"stdout":{"bytes":3,"text":"ok\n"})");
    ASSERT_EQ(commands().size(), 1u);
    const boost::json::object command = commands()[0];
    EXPECT_EQ(text_of(command, "outcome"), "ok");
    EXPECT_EQ(text_of(command.at("boundary").as_object(), "engine"), "jail");
    EXPECT_EQ(text_of(command.at("asked").as_object(), "key"), "key_1");
    EXPECT_EQ(text_of(command.at("request").as_object(), "cwd"), "/app");
    EXPECT_EQ(command.at("verdict").at("action").as_string(), "allow");
    EXPECT_EQ(command.at("output").at("stdout").at("text").as_string(), "ok\n");
    EXPECT_EQ(command.at("network").as_array().size(), 1u);
    EXPECT_EQ(number_of(command.at("network").at(0).as_object(), "down"), 22u);
    EXPECT_EQ(boost::json::serialize(command.at("events")), R"(["ev_1","ev_2","ev_5"])");
}

TEST_F(CommandsTest, TellsTheWaysToEndApart) {
    EXPECT_EQ(outcome(R"("exit":0)"), "ok");
    EXPECT_EQ(outcome(R"("exit":3)"), "failed");
    EXPECT_EQ(outcome(R"("exit":-1)"), "failed");
    EXPECT_EQ(outcome(R"("exit":-1,"signal":9)"), "killed");
    EXPECT_EQ(outcome(R"("exit":null,"signal":9)"), "killed");  // as the record has it
    EXPECT_EQ(outcome(R"("exit":-1,"signal":9,"timed_out":true)"), "timed_out");
    EXPECT_EQ(outcome(R"("exit":-1,"signal":9,"oom":true,"limit":"memory")"), "oom");
    EXPECT_EQ(outcome(R"("exit":1,"limit":"disk")"), "limit");
    EXPECT_EQ(outcome(R"("exit":null)"), "lost");
}

TEST_F(CommandsTest, ARefusedOneIsDeniedAndOneWithoutAnEndIsUnknown) {
    write("command.requested", R"("id":"ev_1","argv":["rm"])");
    write("command.denied", R"("id":"ev_2","command":"ev_1","sentence":"not allowed")");
    write("command.requested", R"("id":"ev_3","argv":["sleep"])");
    ASSERT_EQ(commands().size(), 2u);
    EXPECT_EQ(text_of(commands()[0], "outcome"), "denied");
    EXPECT_EQ(text_of(commands()[0], "sentence"), "not allowed");
    EXPECT_EQ(text_of(commands()[1], "outcome"), "unknown");
}

TEST_F(CommandsTest, CommandsThatRanAtTheSameTimeNameEachOther) {
    write("command.requested", R"("id":"ev_1","argv":["a"])");
    write("command.requested", R"("id":"ev_2","argv":["b"])");
    write("command.exited", R"("id":"ev_3","command":"ev_1","exit":0)");
    write("command.exited", R"("id":"ev_4","command":"ev_2","exit":0)");
    EXPECT_EQ(boost::json::serialize(commands()[0].at("overlaps")), R"(["ev_2"])");
    EXPECT_EQ(boost::json::serialize(commands()[1].at("overlaps")), R"(["ev_1"])");
}

}  // namespace
}  // namespace oyat::audit
