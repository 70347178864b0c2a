#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "agent/test_process.hpp"

namespace oyat::agent {
namespace {

using testing::AgentProcess;
using testing::alive;
using testing::attach_request;
using testing::code_of;
using testing::Heard;
using testing::spawn_request;
using testing::start;
using testing::until_gone;
using wire::FrameKind;

TEST_F(AgentProcess, AHeldProgramRunsOnlyOnRelease) {
    const std::string mark = agent.directory() + "/mark";
    const auto stream =
        host.open(spawn_request({.argv = {"/bin/sh", "-c", "echo $$; : > " + mark}, .hold = true}));
    const auto pid = start(host, stream);
    ASSERT_TRUE(alive(pid));
    wire::Request list;
    list.list_processes.emplace();
    const Heard& listed = host.ask(list);
    EXPECT_TRUE(wire::decode<wire::ProcessList>(listed.events[0])->processes.at(0).held);
    EXPECT_FALSE(std::filesystem::exists(mark));
    wire::Request release;
    release.release = wire::Release{.pid = pid};
    EXPECT_EQ(host.ask(release).end->code, 0u);
    EXPECT_EQ(host.until_end(stream).out(), std::to_string(pid) + "\n");
    EXPECT_TRUE(std::filesystem::exists(mark));
}

TEST_F(AgentProcess, ARefusedProgramNeverRuns) {
    const std::string mark = agent.directory() + "/mark";
    const auto stream = host.open(spawn_request({.argv = {"/usr/bin/touch", mark}, .hold = true}));
    const auto pid = start(host, stream);
    wire::Request release;
    release.release = wire::Release{.pid = pid, .refuse = true};
    host.ask(release);
    Heard& heard = host.until_end(stream);
    EXPECT_EQ(heard.end->code, code_of(Errc::canceled));
    EXPECT_FALSE(heard.exited());
    EXPECT_FALSE(std::filesystem::exists(mark));
}

TEST_F(AgentProcess, CancellingAHeldProgramEndsIt) {
    const auto stream = host.open(spawn_request({.argv = {"/bin/true"}, .hold = true}));
    const auto pid = start(host, stream);
    host.send(FrameKind::cancel, stream);
    host.until_end(stream);
    until_gone(host, pid);
    EXPECT_EQ(host.ask(attach_request(pid)).end->code, code_of(Errc::not_found));
}

TEST_F(AgentProcess, AHeldProgramThatCannotStartSaysWhy) {
    const auto stream = host.open(spawn_request({.argv = {"no-such-program"}, .hold = true}));
    wire::Request release;
    release.release = wire::Release{.pid = start(host, stream)};
    host.ask(release);
    EXPECT_EQ(host.until_end(stream).end->message, "program 'no-such-program' not found");
    EXPECT_FALSE(host.heard(stream).exited());
}

}  // namespace
}  // namespace oyat::agent
