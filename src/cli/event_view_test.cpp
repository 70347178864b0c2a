#include "cli/event_view.hpp"

#include <gtest/gtest.h>

namespace oyat::cli {
namespace {

std::string shown(std::string_view line, Output output = Output::hidden) {
    return show_event_line(line, Paint{-1}, output);  // no terminal: no colours
}

TEST(EventView, TellsHowACommandEnded) {
    EXPECT_EQ(
        shown(R"({"type":"command.exited","t":"2026-11-30T10:02:03.114Z","sandbox":"i0a1b2c3d4e5f6a7b8c9d",)"
              R"("fault":"limit","argv":["bash","-c","a b"],"exit":null,"signal":9,"limit":"memory"})"),
        "10:02:03.114  i0a1b2c3d  command.exited  bash -c 'a b'  killed by signal 9  limit of memory  fault: "
        "limit\n");
}

TEST(EventView, NamesWhereAConnectionWent) {
    const std::string line = shown(
        R"({"type":"connect.denied","addr":"10.0.0.1","host":"in.test","port":80,"rule":"private","fault":"policy"})");
    EXPECT_NE(line.find("in.test:80 (10.0.0.1)  rule private"), std::string::npos) << line;
}

TEST(EventView, ShowsOutputOnlyWhenAsked) {
    const std::string_view line =
        R"({"type":"command.exited","exit":0,"argv":["x"],"stdout":{"bytes":6,"text":"one\ntwo"}})";
    EXPECT_EQ(shown(line).find("one"), std::string::npos);
    EXPECT_NE(shown(line, Output::shown).find("    one\n    two\n"), std::string::npos);
}

TEST(EventView, ARecordThatIsReadLaterHasTheDay) {
    const std::string_view line =
        R"({"type":"sandbox.ended","t":"2026-11-30T10:02:03.114Z","sandbox":"i0a1b2c3d4e5f6a7b8c9d"})";
    EXPECT_TRUE(shown(line, Output::shown).starts_with("2026-11-30 10:02:03.114  i0a1b2c3d  "));
    EXPECT_TRUE(shown(line).starts_with("10:02:03.114  i0a1b2c3d  "));
}

TEST(EventView, OutputWithoutLinesDoesNotFloodTheTerminal) {
    const std::string out = shown(
        R"({"type":"command.exited","stdout":{"bytes":5000,"text":")" + std::string(5000, 'x') + R"("}})",
        Output::shown);
    EXPECT_LT(out.size(), 2200u);
    EXPECT_NE(out.find("[3000 more bytes; --json has them]"), std::string::npos) << out;
}

TEST(EventView, LetsNothingInsideDriveTheTerminal) {
    for (const std::string_view line :
         {R"({"type":"file.read","path":"\u001b[2J"})", R"({"type":"\u001b]0;x","argv":["\u009b2J"]})",
          "\x1b[2J not json", R"({"type":"command.exited","stdout":{"bytes":4,"text":"\u001b[2J"}})"}) {
        const std::string out = shown(line, Output::shown);
        EXPECT_EQ(out.find('\x1b'), std::string::npos) << line;
        EXPECT_EQ(out.find("\xc2\x9b"), std::string::npos) << line;
    }
}

TEST(EventView, ShowsAJoinedCommandWithWhatBecameOfItAndItsOutput) {
    const boost::json::value command{
        {"outcome", "timed_out"},
        {"fault", "limit"},
        {"asked", {{"key", "key_1"}, {"client", "sdk"}, {"t", "2026-11-30T10:02:03.114Z"}}},
        {"request", {{"argv", {"sleep", "\x1b[2J"}}}},
        {"process", {{"duration_ms", 1000}}},
        {"output", {{"stdout", {{"bytes", 3}, {"text", "one"}}}}}};
    const std::string shown = show_command(command, Paint{-1});
    EXPECT_TRUE(shown.starts_with("timed_out  $ sleep ")) << shown;
    EXPECT_NE(shown.find("1000 ms  2026-11-30T10:02:03.114Z  by key_1 sdk  fault: limit\n"),
              std::string::npos)
        << shown;
    EXPECT_NE(shown.find("    one\n"), std::string::npos) << shown;
    EXPECT_EQ(shown.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace oyat::cli
