#include "api/e2b/process_events.hpp"

#include <gtest/gtest.h>

namespace oyat::e2b {
namespace {

std::string end_json(core::ProcessEnd end) {
    std::string json;
    append_end(json, end);
    return json;
}

TEST(ProcessEvents, OutputIsBase64OnItsOwnChannel) {
    std::string json;
    append_output(json, {core::OutputChannel::out, "hi\n"});
    EXPECT_EQ(json, R"({"event":{"data":{"stdout":"aGkK"}}})");
    json.clear();
    append_output(json, {core::OutputChannel::pty, "x"});
    EXPECT_EQ(json, R"({"event":{"data":{"pty":"eA=="}}})");
}

TEST(ProcessEvents, AGoodEndHasNoError) {
    EXPECT_EQ(end_json({}), R"({"event":{"end":{"exitCode":0,"exited":true,"status":"exit status 0"}}})");
}

TEST(ProcessEvents, ABadEndSaysHow) {
    core::ProcessEnd end;
    end.exit_code = 3;
    EXPECT_EQ(end_json(end), R"({"event":{"end":{"exitCode":3,"exited":true,"status":"exit status 3",)"
                             R"("error":"exit status 3"}}})");
}

TEST(ProcessEvents, AKilledProcessHasNotExited) {
    core::ProcessEnd end;
    end.exit_code = -1;
    end.signal = 9;
    EXPECT_EQ(end_json(end), R"({"event":{"end":{"exitCode":-1,"exited":false,"status":"signal: killed",)"
                             R"("error":"signal: killed"}}})");
}

TEST(ProcessEvents, ALimitThatWasHitIsNamed) {
    core::ProcessEnd end;
    end.signal = 9;
    end.oom = true;
    EXPECT_NE(
        end_json(end).find("signal: killed (a process was killed: the sandbox's memory limit was reached)"),
        std::string::npos);
    end = {};
    end.exit_code = 1;
    end.limit = "processes";
    EXPECT_NE(end_json(end).find("exit status 1 (the sandbox's limit was reached: processes)"),
              std::string::npos);
}

}  // namespace
}  // namespace oyat::e2b
