#include "core/command_request.hpp"

#include <gtest/gtest.h>

namespace oyat::core {
namespace {

RunRequest request_of(std::vector<std::string> argv) {
    RunRequest request;
    request.argv = std::move(argv);
    return request;
}

TEST(CommandRequest, IsRefusedWhenNoProgramCouldBeStartedWithIt) {
    EXPECT_TRUE(malformed(request_of({})));
    EXPECT_TRUE(malformed(request_of({""})));
    EXPECT_TRUE(malformed(request_of({"a", std::string("b\0c", 3)})));
    RunRequest request = request_of({"a"});
    EXPECT_FALSE(malformed(request));
    request.env = {{"A=B", "x"}};
    EXPECT_TRUE(malformed(request));
    request.env = {{"A", std::string("x\0y", 3)}};
    EXPECT_TRUE(malformed(request));
}

TEST(MarkedTag, ComesBackWhateverTheClientsTagHolds) {
    for (const std::string tag : {"", "plain", "with\x1fmark", "\x1f"}) {
        const MarkedTag back = read_mark(write_mark({.command = "ev_7", .tag = tag}));
        EXPECT_EQ(back.command, "ev_7");
        EXPECT_EQ(back.tag, tag);
    }
}

TEST(MarkedTag, OfAProcessThatWeDidNotMarkIsItsTag) {
    EXPECT_EQ(read_mark("plain").tag, "plain");
    EXPECT_EQ(read_mark("plain").command, "");
}

}  // namespace
}  // namespace oyat::core
