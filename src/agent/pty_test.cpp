#include "agent/pty.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "agent/test_process.hpp"

namespace oyat::agent {
namespace {

using testing::AgentProcess;
using testing::Heard;
using testing::spawn_request;
using testing::start;
using wire::ChannelId;
using wire::FrameKind;

TEST_F(AgentProcess, ATerminalEchoesResizesAndEndsWithItsShell) {
    const auto stream = host.open(spawn_request(
        {.argv = {"/bin/sh"}, .env = {{"PS1", "ready> "}}, .pty = wire::TermSize{.cols = 91, .rows = 17}}));
    const auto pid = start(host, stream);
    const auto type = [&](std::string_view text) {
        host.send(FrameKind::data, stream, ChannelId::pty, text);
    };
    const auto shown = [&](std::string_view text) {
        host.until([&] { return host.heard(stream).data[ChannelId::pty].find(text) != std::string::npos; });
    };
    type("stty size; tty\n");
    shown("17 91");
    shown("/dev/pts/");
    wire::Request resize;
    resize.resize = wire::Resize{.pid = pid, .size = {.cols = 132, .rows = 43}};
    EXPECT_EQ(host.ask(resize).end->code, 0u);
    type("stty size; cat\n");
    shown("43 132");
    type("meow\n");
    shown("meow\r\nmeow");  // cat has the terminal by now
    type("\x03");
    shown("^C\r\nready> ");  // the shell forgets what is typed before it has noticed
    type("echo rc:$?\n");
    shown("rc:130");
    type("sleep 1009 & exit 5\n");
    EXPECT_EQ(host.until_end(stream).exited()->exit_code, 5) << host.heard(stream).data[ChannelId::pty];
    host.shell("pkill -f 'sleep 1009'");
}

TEST_F(AgentProcess, TheEndOfATerminalsInputIsItsEndOfFileKey) {
    const auto stream = host.open(spawn_request({.argv = {"/bin/cat"}, .pty = wire::TermSize{}}));
    start(host, stream);
    host.send(FrameKind::data, stream, ChannelId::pty, "typed\n");
    host.send(FrameKind::eof, stream, ChannelId::pty);
    EXPECT_EQ(host.until_end(stream).data[ChannelId::pty], "typed\r\ntyped\r\n");
}

TEST_F(AgentProcess, EndsOfInputThatNobodyReadsAreNotHoarded) {
    const auto stream = host.open(spawn_request({.argv = {"/bin/sleep", "1015"}, .pty = wire::TermSize{}}));
    start(host, stream);
    std::string ends;
    for (int i = 0; i < 50'000; ++i) wire::append_frame(ends, FrameKind::eof, stream, ChannelId::pty, {});
    for (int i = 0; i < 60; ++i) host.send_raw(ends);
    EXPECT_EQ(host.shell("echo meanwhile").out(), "meanwhile\n");
    EXPECT_LT(agent.rss_kib(), 3072u);
}

TEST_F(AgentProcess, TheTerminalBelongsToItsUser) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    Heard& heard = host.run({.argv = {"/bin/sh", "-c", "stat -c %U $(tty); echo x > /dev/tty"},
                             .user = "daemon",
                             .pty = wire::TermSize{}});
    EXPECT_EQ(heard.data[ChannelId::pty], "daemon\r\nx\r\n");
}

}  // namespace
}  // namespace oyat::agent
