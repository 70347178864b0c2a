#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "agent/test_process.hpp"

namespace oyat::agent {
namespace {

using testing::alive;
using testing::attach_request;
using testing::code_of;
using testing::Heard;
using testing::RunningAgent;
using testing::shell_request;
using testing::spawn_request;
using testing::TestHost;

wire::Request quiesce_request(wire::Quiesce quiesce = {}) {
    wire::Request request;
    request.quiesce = quiesce;
    return request;
}

wire::Request renew_request(wire::Renew renew = {}) {
    wire::Request request;
    request.renew = std::move(renew);
    return request;
}

char state_of(std::uint32_t pid) {
    std::ifstream stat{"/proc/" + std::to_string(pid) + "/stat"};
    std::string text;
    std::getline(stat, text);
    const auto at = text.rfind(") ");
    return at == text.npos ? '?' : text[at + 2];
}

// A network of its own: what the machine is connected to is none of the sandbox's business.
const RunningAgent::Surroundings kOwnNetwork{.in_child = [] { ::unshare(CLONE_NEWNET); }, .in_parent = {}};

// Once with control groups, once without.
class Quiesce : public ::testing::TestWithParam<RunningAgent::Cgroup> {
protected:
    // Without a group nothing else would end them with the agent.
    void TearDown() override {
        for (const std::uint32_t pid : programs) ::kill(-static_cast<pid_t>(pid), SIGKILL);
        for (const std::uint32_t pid : programs) {
            while (alive(pid)) ::usleep(1000);
        }
    }
    std::uint32_t start(std::uint32_t stream) {
        programs.push_back(testing::start(host, stream));
        return programs.back();
    }
    // A program that counts in a file for as long as it runs.
    void start_counter() {
        const auto stream = host.open(shell_request("i=0; while :; do i=$((i+1)); echo $i >" + count +
                                                    ".new; mv " + count + ".new " + count + "; done"));
        start(stream);
        wait_for_count(host, 10);
    }
    long counted() const {
        long number = 0;
        std::ifstream{count} >> number;
        return number;
    }
    void wait_for_count(TestHost& by, long least) {
        by.until([&] {
            by.step(5);
            return counted() >= least;
        });
    }

    RunningAgent agent{GetParam(), kOwnNetwork};
    std::string count = agent.directory() + "/count";
    TestHost host{agent};
    std::vector<std::uint32_t> programs;
};

TEST_P(Quiesce, ProgramsStandStillUntilTheRenewal) {
    start_counter();
    ASSERT_EQ(host.ask(quiesce_request()).end->code, 0u);
    const long before = counted();
    TestHost next{agent};
    EXPECT_EQ(counted(), before);
    EXPECT_EQ(next.ask(renew_request()).end->code, 0u);
    wait_for_count(next, before + 10);
}

TEST_P(Quiesce, TheAgentHangsUpAfterItsAnswer) {
    Heard& heard = host.ask(quiesce_request());
    ASSERT_EQ(heard.events.size(), 1u);
    EXPECT_TRUE(wire::decode<wire::Quiesced>(heard.events[0])->hangs_up);
    EXPECT_TRUE(host.closed_within(5000));
}

TEST_P(Quiesce, NothingStartsMeanwhile) {
    host.ask(quiesce_request());
    TestHost next{agent};
    EXPECT_EQ(next.shell("true").end->code, code_of(Errc::failed_precondition));
    next.ask(renew_request());
    EXPECT_EQ(next.shell("echo goes on").out(), "goes on\n");
}

TEST_P(Quiesce, CommandsGoOnAndCanBeAttachedTo) {
    const auto stream = host.open(spawn_request({.argv = {"/bin/cat"}, .stdin_open = true}));
    const std::uint32_t pid = start(stream);
    host.ask(quiesce_request());
    TestHost next{agent};
    next.ask(renew_request({.generation = 8}));
    TestHost last{agent};
    EXPECT_EQ(last.hello().generation, 8u);
    const auto attached = last.open(attach_request(pid));
    last.send(wire::FrameKind::data, attached, wire::ChannelId::stdin_, "after it\n");
    last.send(wire::FrameKind::eof, attached, wire::ChannelId::stdin_);
    EXPECT_EQ(last.until_end(attached).out(), "after it\n");
}

TEST_P(Quiesce, WhoWasStoppedBeforeStaysStopped) {
    const auto stream = host.open(spawn_request({.argv = {"/bin/sleep", "1031"}}));
    const std::uint32_t pid = start(stream);
    host.ask(testing::signal_request(pid, SIGSTOP, false));
    host.until([&] { return state_of(pid) == 'T'; });
    host.ask(quiesce_request());
    TestHost next{agent};
    next.ask(renew_request());
    next.shell("true");
    EXPECT_EQ(state_of(pid), 'T');
}

TEST_P(Quiesce, ReachesADaemonThatLeftItsSession) {
    Heard& heard =
        host.shell("setsid sh -c 'while :; do sleep 0.001; done' </dev/null >/dev/null 2>&1 & echo $!");
    const auto daemon = static_cast<std::uint32_t>(std::stoul(heard.out()));
    host.ask(quiesce_request());
    if (GetParam() == RunningAgent::Cgroup::none) {
        EXPECT_EQ(state_of(daemon), 'T');
    }
    TestHost next{agent};
    next.ask(renew_request());
    next.shell("kill -9 " + heard.out());
}

// Its shell must not take the stop for a job that was suspended.
TEST_P(Quiesce, AnInteractiveShellKeepsItsJobInTheForeground) {
    const auto stream =
        host.open(spawn_request({.argv = {"/bin/bash", "--norc", "-i"}, .pty = wire::TermSize{}}));
    const std::uint32_t pid = start(stream);
    host.send(wire::FrameKind::data, stream, wire::ChannelId::pty, "echo re''ady; cat\n");
    const auto said = [&](TestHost& by, std::uint32_t on, const char* what) {
        by.until([&] { return by.heard(on).data[wire::ChannelId::pty].find(what) != std::string::npos; });
    };
    said(host, stream, "ready");
    host.ask(quiesce_request());
    TestHost next{agent};
    next.ask(renew_request());
    const auto attached = next.open(attach_request(pid));
    next.send(wire::FrameKind::data, attached, wire::ChannelId::pty, "still c''at\n");
    said(next, attached, "still c''at\r\nstill c''at");
    EXPECT_EQ(next.heard(attached).data[wire::ChannelId::pty].find("Stopped"), std::string::npos);
}

TEST_P(Quiesce, RefusesWhenAConnectionLeadsOutside) {
    if (host.shell("command -v python3 ip").exited()->exit_code != 0) GTEST_SKIP() << "needs python3 and ip";
    const auto stream = host.open(
        shell_request("ip link set lo up; ip addr add 10.9.9.8/32 dev lo; ip addr add 10.9.9.9/32 dev lo; "
                      "exec python3 -c '\n"
                      "import socket\n"
                      "s = socket.create_server((\"10.9.9.9\", 443))\n"
                      "c = socket.create_connection((\"10.9.9.9\", 443), source_address=(\"10.9.9.8\", 0))\n"
                      "a = s.accept()\n"
                      "print(\"up\", flush=True)\n"
                      "import time; time.sleep(1033)'"));
    host.until([&] { return host.heard(stream).out() == "up\n" || host.heard(stream).end; });
    ASSERT_EQ(host.heard(stream).out(), "up\n") << host.heard(stream).err();
    const std::uint32_t pid = start(stream);
    const wire::Status refused = *host.ask(quiesce_request({.no_connections = true})).end;
    EXPECT_EQ(refused.code, code_of(Errc::failed_precondition));
    EXPECT_TRUE(refused.message.starts_with("process " + std::to_string(pid) + " (python3"))
        << refused.message;
    EXPECT_NE(refused.message.find("10.9.9."), std::string::npos) << refused.message;
    EXPECT_EQ(host.shell("echo goes on").out(), "goes on\n");
    EXPECT_EQ(host.ask(quiesce_request()).end->code, 0u) << "it was not asked to look";
}

TEST_P(Quiesce, RefusesWhenAFileHasNoNameAnyMore) {
    const std::string file = agent.directory() + "/gone";
    const auto stream = host.open(shell_request("exec 7>" + file + "; rm " + file + "; echo up; sleep 1032"));
    host.until([&] { return host.heard(stream).out() == "up\n"; });
    const std::uint32_t pid = start(stream);
    const wire::Status refused = *host.ask(quiesce_request({.no_deleted_files = true})).end;
    EXPECT_EQ(refused.code, code_of(Errc::failed_precondition));
    EXPECT_EQ(refused.message,
              "process " + std::to_string(pid) + " (sh) holds a deleted file open: '" + file + " (deleted)'");
    host.ask(testing::signal_request(pid, SIGKILL));
    EXPECT_EQ(host.until_end(stream).exited()->signal, static_cast<std::uint32_t>(SIGKILL)) << "it goes on";
    EXPECT_EQ(host.ask(quiesce_request({.no_deleted_files = true})).end->code, 0u);
}

TEST_P(Quiesce, AFileThatIsOnlyCalledDeletedIsNoObstacle) {
    const std::string file = agent.directory() + "/gone (deleted)";
    const auto stream = host.open(shell_request("exec 7>'" + file + "'; echo up; sleep 1034"));
    host.until([&] { return host.heard(stream).out() == "up\n"; });
    start(stream);
    EXPECT_EQ(host.ask(quiesce_request({.no_deleted_files = true})).end->code, 0u);
}

INSTANTIATE_TEST_SUITE_P(WithGroupsAndWithout, Quiesce,
                         ::testing::Values(RunningAgent::Cgroup::if_possible, RunningAgent::Cgroup::none),
                         [](const auto& info) {
                             return info.param == RunningAgent::Cgroup::none ? "BySignals" : "ByGroups";
                         });

}  // namespace
}  // namespace oyat::agent
