#include "agent/process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "agent/test_host.hpp"

namespace oyat::agent {
namespace {

using testing::Heard;
using testing::RunningAgent;
using testing::TestHost;
using wire::ChannelId;
using wire::FrameKind;

constexpr std::uint32_t code_of(Errc code) {
    return static_cast<std::uint32_t>(code) + 1;
}

wire::Request spawn_request(wire::Spawn spawn) {
    wire::Request request;
    request.spawn = std::move(spawn);
    return request;
}

wire::Request shell_request(std::string script) {
    return spawn_request({.argv = {"/bin/sh", "-c", std::move(script)}});
}

wire::Request signal_request(std::uint32_t pid, std::uint32_t signal, bool tree = true) {
    wire::Request request;
    request.signal = wire::Signal{.pid = pid, .signal = signal, .tree = tree};
    return request;
}

wire::Request attach_request(std::uint32_t pid) {
    wire::Request request;
    request.attach = wire::Attach{.pid = pid};
    return request;
}

std::uint32_t start(TestHost& host, std::uint32_t stream) {
    host.until([&] { return host.heard(stream).started() || host.heard(stream).end; });
    const auto started = host.heard(stream).started();
    return started ? started->pid : 0;
}

bool alive(std::uint32_t pid) {
    std::ifstream stat{"/proc/" + std::to_string(pid) + "/stat"};
    std::string text;
    std::getline(stat, text);
    const auto at = text.rfind(") ");
    return at != text.npos && text[at + 2] != 'Z';
}

void until_gone(TestHost& host, std::uint32_t pid) {
    host.until([&] {
        host.step(5);
        return !alive(pid);
    });
}

class AgentProcess : public ::testing::Test {
protected:
    RunningAgent agent;
    TestHost host{agent};
};

TEST_F(AgentProcess, GreetsWithItsGeneration) {
    EXPECT_EQ(host.hello().magic, wire::kAgentMagic);
    EXPECT_EQ(host.hello().version, wire::kAgentVersion);
    EXPECT_EQ(host.hello().generation, 7u);
    EXPECT_FALSE(host.hello().configured);
}

TEST_F(AgentProcess, KeepsOutputAndErrorsApartAndReportsTheExitCode) {
    Heard& heard = host.shell("echo out; echo err >&2; exit 3");
    EXPECT_EQ(heard.out(), "out\n");
    EXPECT_EQ(heard.err(), "err\n");
    ASSERT_TRUE(heard.exited());
    EXPECT_EQ(heard.exited()->exit_code, 3);
    EXPECT_EQ(heard.exited()->signal, 0u);
    EXPECT_EQ(heard.end->code, 0u);
}

TEST_F(AgentProcess, ReportsTheSignalThatEndedIt) {
    Heard& heard = host.shell("kill -9 $$");
    ASSERT_TRUE(heard.exited());
    EXPECT_EQ(heard.exited()->signal, 9u);
    EXPECT_FALSE(heard.exited()->killed_by_api);
}

TEST_F(AgentProcess, LooksTheProgramUpInThePathOfItsEnvironment) {
    EXPECT_EQ(host.run({.argv = {"echo", "hi"}}).out(), "hi\n");
    EXPECT_EQ(host.run({.argv = {"echo", "hi"}, .env = {{"PATH", "/nowhere"}}}).end->code,
              code_of(Errc::not_found));
}

TEST_F(AgentProcess, SaysInASentenceWhyAProgramDidNotStart) {
    EXPECT_EQ(host.run({.argv = {"no-such-program"}}).end->message, "program 'no-such-program' not found");
    EXPECT_EQ(host.run({.argv = {"/etc"}}).end->message, "program '/etc': permission denied");
    EXPECT_EQ(host.run({.argv = {"true"}, .cwd = "/no/where"}).end->message,
              "cwd '/no/where' does not exist");
    EXPECT_EQ(host.run({.argv = {"true"}, .cwd = "/etc/passwd"}).end->message,
              "cwd '/etc/passwd' is not a directory");
    const Heard& nobody = host.run({.argv = {"true"}, .user = "no-such-user"});
    EXPECT_EQ(nobody.end->message, "user 'no-such-user' does not exist");
    EXPECT_EQ(nobody.end->code, code_of(Errc::failed_precondition));
    EXPECT_EQ(host.run({}).end->code, code_of(Errc::invalid_argument));
}

// Threat J-14: a directory that only the agent's own descriptors or another root lead to.
TEST_F(AgentProcess, RefusesWorkingDirectoriesThroughMagicLinks) {
    for (const char* cwd :
         {"/proc/self/fd/3", "/proc/self/fd/7", "/proc/self/fd/200", "/proc/self/fd/201", "/proc/self/root",
          "/proc/self/cwd", "/proc/1/root", "/proc/1/root/..", "/proc/1/cwd", "/proc/thread-self/root/etc",
          "/dev/fd/200", "/proc/self/task/../fd/201"}) {
        const Heard& heard = host.run({.argv = {"pwd"}, .cwd = cwd});
        EXPECT_TRUE(heard.end->message.starts_with("cwd '" + std::string{cwd} + "'")) << heard.end->message;
        EXPECT_FALSE(heard.started()) << cwd;
    }
}

TEST_F(AgentProcess, DoesNotRunItselfOrWhatItHasOpen) {
    for (const char* program : {"/proc/self/exe", "/proc/thread-self/exe", "/proc/self/fd/200"}) {
        EXPECT_EQ(host.run({.argv = {program}}).end->code, code_of(Errc::denied)) << program;
    }
}

TEST_F(AgentProcess, RunsScriptsWithoutAFirstLineByTheShell) {
    const std::string script = agent.directory() + "/script";
    std::ofstream{script} << "echo $0 $1\n";
    std::filesystem::permissions(script, std::filesystem::perms{0755});
    EXPECT_EQ(host.run({.argv = {script, "argument"}}).out(), script + " argument\n");
}

TEST_F(AgentProcess, GivesProgramsOnlyTheirStdio) {
    EXPECT_EQ(host.run({.argv = {"/bin/ls", "/proc/self/fd"}}).out(), "0\n1\n2\n3\n");  // 3 is ls reading it
    EXPECT_EQ(host.run({.argv = {"/bin/ls", "/proc/self/fd"}, .pty = wire::TermSize{}}).data[ChannelId::pty],
              "0  1  2  3\r\n");
}

TEST_F(AgentProcess, StartsProgramsWithAllSignalsAtTheirDefaults) {
    const std::string status = host.shell("cat /proc/self/status").out();
    for (const char* kind : {"SigBlk", "SigIgn", "SigCgt"}) {
        EXPECT_NE(status.find(std::string{kind} + ":\t0000000000000000\n"), std::string::npos) << status;
    }
}

TEST_F(AgentProcess, BuildsTheEnvironmentInLayers) {
    wire::Request configure;
    configure.configure = wire::Configure{.env = {{"A", "conf"}, {"B", "conf"}, {"C", "conf"}}};
    EXPECT_EQ(host.ask(configure).end->code, 0u);
    Heard& heard = host.run({.argv = {"/bin/sh", "-c", "echo $A $B $C $HOME $USER $LOGNAME"},
                             .env = {{"B", "req"}, {"C", "req"}},
                             .forced_env = {{"C", "forced"}}});
    EXPECT_EQ(heard.out(), "conf req forced /root root root\n");
    EXPECT_TRUE(TestHost{agent}.hello().configured);
}

TEST_F(AgentProcess, DoesNotInterpretValuesOfVariables) {
    const std::string odd = " a=b\n\"'`$HOME`\xF0\x9F\x98\x80\r\n" + std::string(100'000, 'x') + " ";
    EXPECT_EQ(host.run({.argv = {"/bin/sh", "-c", "printf %s \"$ODD\""}, .env = {{"ODD", odd}}}).out(), odd);
    EXPECT_EQ(host.run({.argv = {"true"}, .env = {{"A=B", ""}}}).end->code, code_of(Errc::invalid_argument));
    EXPECT_EQ(host.run({.argv = {"true"}, .env = {{"A", std::string("\0", 1)}}}).end->code,
              code_of(Errc::invalid_argument));
}

TEST_F(AgentProcess, RunsAsTheUserWithItsGroups) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    Heard& heard = host.run({.argv = {"/bin/sh", "-c", "id -u; id -g; id -G; echo $HOME"}, .user = "daemon"});
    EXPECT_EQ(heard.out(), "1\n1\n1\n/usr/sbin\n");
}

TEST_F(AgentProcess, OpensItsOwnStdoutByName) {
    EXPECT_EQ(host.run({.argv = {"/bin/sh", "-c", "echo x > /dev/stdout"}, .user = "nobody"}).out(), "x\n");
}

TEST_F(AgentProcess, WithoutInputAProgramSeesEndOfFile) {
    EXPECT_EQ(host.shell("cat | wc -c; read x || echo none").out(), "0\nnone\n");
}

TEST_F(AgentProcess, PassesInputAndItsEnd) {
    const auto stream = host.open(spawn_request({.argv = {"/bin/cat"}, .stdin_open = true}));
    host.send(FrameKind::data, stream, ChannelId::stdin_, "one\n");
    host.until([&] { return host.heard(stream).out() == "one\n"; });
    host.send(FrameKind::data, stream, ChannelId::stdin_, "two\n");
    host.send(FrameKind::eof, stream, ChannelId::stdin_);
    EXPECT_EQ(host.until_end(stream).out(), "one\ntwo\n");
    EXPECT_EQ(host.heard(stream).exited()->exit_code, 0);
}

TEST_F(AgentProcess, GivesCreditForInputOnlyAsItIsRead) {
    const auto stream = host.open(spawn_request({.argv = {"/bin/sleep", "1000"}, .stdin_open = true}));
    const std::string piece(64 * 1024, 'x');
    for (int i = 0; i < 4; ++i) host.send(FrameKind::data, stream, ChannelId::stdin_, piece);
    host.send(FrameKind::data, stream, ChannelId::stdin_, piece);  // one more than the pipe could take
    host.send(FrameKind::data, stream, ChannelId::stdin_, piece);
    EXPECT_TRUE(host.closed_within(5000)) << "a host that sends beyond its credit is hung up on";
}

TEST_F(AgentProcess, BothOutputsMayFillUpInAnyOrder) {
    Heard& heard =
        host.shell("head -c 4194304 /dev/zero >&2; head -c 4194304 /dev/zero; exec >&-; echo end >&2");
    EXPECT_EQ(heard.out().size(), 4u << 20);
    EXPECT_EQ(heard.err().size(), (4u << 20) + 4);
    EXPECT_EQ(heard.exited()->exit_code, 0);
}

TEST_F(AgentProcess, ADetachedJobNeitherHoldsTheStreamNorDiesWithIt) {
    Heard& heard = host.shell("setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo $!");
    const auto pid = static_cast<std::uint32_t>(std::stoul(heard.out()));
    EXPECT_TRUE(alive(pid));
    host.shell("kill -9 " + std::to_string(pid));
    until_gone(host, pid);
}

TEST_F(AgentProcess, BuriesOrphans) {
    host.shell("for i in $(seq 200); do (sh -c 'sleep 0.01 &' &) ; done; sleep 0.3");
    const std::string zombies = "ps --ppid " + std::to_string(agent.pid()) + " -o stat= | grep -c Z";
    host.until([&] { return host.shell(zombies).out() == "0\n"; });
}

TEST_F(AgentProcess, KillReachesTheWholeTreeAndEndsTheStream) {
    const auto stream = host.open(
        shell_request("sleep 1001 & echo $!; setsid sh -c 'sleep 1002 & echo $!; sleep 1003' & wait"));
    host.until([&] { return std::ranges::count(host.heard(stream).out(), '\n') == 2; });
    const std::string out = host.heard(stream).out();
    const auto child = static_cast<std::uint32_t>(std::stoul(out));
    const auto grandchild = static_cast<std::uint32_t>(std::stoul(out.substr(out.find('\n') + 1)));
    ASSERT_TRUE(alive(child) && alive(grandchild));
    const auto pid = start(host, stream);
    EXPECT_EQ(host.ask(signal_request(pid, SIGKILL)).end->code, 0u);
    Heard& heard = host.until_end(stream);
    EXPECT_EQ(heard.exited()->signal, 9u);
    EXPECT_TRUE(heard.exited()->killed_by_api);
    until_gone(host, child);
    until_gone(host, grandchild);
    EXPECT_EQ(host.ask(signal_request(pid, SIGKILL)).end->code, code_of(Errc::not_found));
}

TEST_F(AgentProcess, ASignalWithoutTreeReachesTheLeaderOnly) {
    const auto stream = host.open(shell_request("sleep 1004 & echo $!; wait"));
    host.until([&] { return !host.heard(stream).out().empty(); });
    const auto child = static_cast<std::uint32_t>(std::stoul(host.heard(stream).out()));
    const auto pid = start(host, stream);
    host.ask(signal_request(pid, SIGTERM, false));
    until_gone(host, pid);
    EXPECT_TRUE(alive(child));
    EXPECT_FALSE(host.heard(stream).end) << "the child still holds the outputs";
    EXPECT_EQ(host.ask(signal_request(pid, SIGKILL, true)).end->code, 0u);
    EXPECT_EQ(host.until_end(stream).exited()->signal, static_cast<std::uint32_t>(SIGTERM));
    until_gone(host, child);
}

TEST_F(AgentProcess, WallTimeEndsTheWholeTree) {
    const auto stream = host.open(spawn_request(
        {.argv = {"/bin/sh", "-c", "setsid sleep 1005 & echo $!; sleep 1006"}, .wall_ms = 200}));
    Heard& heard = host.until_end(stream);
    EXPECT_TRUE(heard.exited()->timed_out);
    EXPECT_EQ(heard.exited()->signal, 9u);
    until_gone(host, static_cast<std::uint32_t>(std::stoul(heard.out())));
}

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

TEST_F(AgentProcess, WithoutCreditAFloodStopsAtThePipe) {
    host.set_credit(TestHost::Credit::never);
    const auto stream = host.open(shell_request("yes"));
    host.until([&] { return host.heard(stream).bytes + 4096 > wire::kInitialWindow; });
    const auto rss = agent.rss_kib();
    for (int i = 0; i < 20; ++i) host.step(20);
    EXPECT_LE(host.heard(stream).bytes, wire::kInitialWindow);
    EXPECT_LT(agent.rss_kib(), rss + 512);
    host.credit(stream, 1000);
    const auto before = host.heard(stream).bytes;
    host.until([&] { return host.heard(stream).bytes == before + 1000; });
}

TEST_F(AgentProcess, OutputThatWasNotAcknowledgedComesAgain) {
    std::uint32_t pid = 0;
    {
        TestHost first{agent};
        first.set_credit(TestHost::Credit::never);
        const auto stream = first.open(shell_request("echo one; sleep 0.2; echo two; sleep 0.2; exit 4"));
        first.until([&] { return first.heard(stream).out() == "one\n"; });
        pid = start(first, stream);
    }
    TestHost second{agent};
    const auto stream = second.open(attach_request(pid));
    EXPECT_EQ(second.until_end(stream).out(), "one\ntwo\n");
    EXPECT_EQ(second.heard(stream).exited()->exit_code, 4);
    EXPECT_EQ(second.heard(stream).started()->dropped_out, 0u);
}

TEST_F(AgentProcess, OutputThatWasAcknowledgedDoesNotComeAgain) {
    std::uint32_t pid = 0;
    {
        TestHost first{agent};
        const auto stream = first.open(shell_request("echo one; sleep 0.3; echo two"));
        first.until([&] { return first.heard(stream).out() == "one\n"; });
        pid = start(first, stream);
        wire::Request list;
        list.list_processes.emplace();
        first.ask(list);  // the credit has arrived before this answer
    }
    TestHost second{agent};
    EXPECT_EQ(second.until_end(second.open(attach_request(pid))).out(), "two\n");
}

TEST_F(AgentProcess, WithNobodyAttachedTheLatestOutputIsKeptAndTheRestCounted) {
    const auto stream =
        host.open(shell_request("head -c 3000000 /dev/zero | tr '\\0' x; echo end; exec sleep 1007"));
    const auto pid = start(host, stream);
    host.send(FrameKind::cancel, stream);
    host.until_end(stream);
    const std::uint64_t seen = host.heard(stream).bytes;
    host.until([&] { return host.shell("cat /proc/" + std::to_string(pid) + "/comm").out() == "sleep\n"; });
    const auto again = host.open(attach_request(pid));
    host.until([&] { return host.heard(again).out().ends_with("end\n"); });
    const std::uint64_t dropped = host.heard(again).started()->dropped_out;
    EXPECT_LE(host.heard(again).out().size(), Process::kMaxKept);
    EXPECT_GE(seen + dropped + host.heard(again).out().size(), 3000004u);
    host.ask(signal_request(pid, SIGKILL));
    host.until_end(again);
}

TEST_F(AgentProcess, AnEndThatNobodyAcknowledgedCanBeFetched) {
    std::uint32_t pid = 0;
    {
        TestHost first{agent};
        first.set_credit(TestHost::Credit::never);
        const auto stream = first.open(shell_request("echo bye; exit 9"));
        pid = start(first, stream);
        first.until_end(stream);
    }
    TestHost second{agent};
    const auto stream = second.open(attach_request(pid));
    EXPECT_EQ(second.until_end(stream).out(), "bye\n");
    EXPECT_EQ(second.heard(stream).exited()->exit_code, 9);
    EXPECT_EQ(second.ask(attach_request(pid)).end->code, code_of(Errc::not_found));
}

TEST_F(AgentProcess, ASecondAttachTakesTheProcessOver) {
    const auto stream = host.open(spawn_request({.argv = {"/bin/cat"}, .stdin_open = true}));
    const auto second = host.open(attach_request(start(host, stream)));
    EXPECT_EQ(host.until_end(stream).end->code, code_of(Errc::canceled));
    host.send(FrameKind::data, second, ChannelId::stdin_, "hello\n");
    host.send(FrameKind::eof, second, ChannelId::stdin_);
    EXPECT_EQ(host.until_end(second).out(), "hello\n");
}

TEST_F(AgentProcess, TheNewestHostReplacesTheOlder) {
    TestHost second{agent};
    EXPECT_TRUE(host.closed_within(5000));
    EXPECT_EQ(second.shell("echo here").out(), "here\n");
}

TEST_F(AgentProcess, HangsUpOnAHostThatBreaksTheProtocol) {
    const auto broken = [&](std::string_view bytes) {
        TestHost bad{agent};
        bad.send_raw(bytes);
        return bad.closed_within(5000);
    };
    std::string never_opened;
    wire::append_frame(never_opened, FrameKind::data, 5, ChannelId::stdin_, "x");
    std::string agent_kind;
    wire::append_frame(agent_kind, FrameKind::hello, 0, ChannelId::none, "");
    std::string bad_ping;
    wire::append_frame(bad_ping, FrameKind::ping, 0, ChannelId::none, "123");
    std::string twice;
    wire::append_frame(twice, FrameKind::request, 1, ChannelId::none, "");
    wire::append_frame(twice, FrameKind::request, 1, ChannelId::none, "");
    EXPECT_TRUE(broken(never_opened));
    EXPECT_TRUE(broken(agent_kind));
    EXPECT_TRUE(broken(bad_ping));
    EXPECT_TRUE(broken(twice));
    EXPECT_TRUE(broken(std::string(wire::kHeaderSize, '\xFF')));
    EXPECT_EQ(TestHost{agent}.shell("echo alive").out(), "alive\n");
}

TEST_F(AgentProcess, AnswersRequestsThatItCannotRead) {
    const std::uint32_t bad = 100;
    host.send(FrameKind::request, bad, ChannelId::none, "\xFF\xFF");
    EXPECT_EQ(host.until_end(bad).end->code, code_of(Errc::invalid_argument));
    host.send(FrameKind::request, bad + 1, ChannelId::none, "");
    EXPECT_EQ(host.until_end(bad + 1).end->code, code_of(Errc::unimplemented));
}

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

TEST_F(AgentProcess, TheTerminalBelongsToItsUser) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    Heard& heard = host.run({.argv = {"/bin/sh", "-c", "stat -c %U $(tty); echo x > /dev/tty"},
                             .user = "daemon",
                             .pty = wire::TermSize{}});
    EXPECT_EQ(heard.data[ChannelId::pty], "daemon\r\nx\r\n");
}

TEST(AgentWithoutCgroup, StillFindsTheTreeOfACommand) {
    RunningAgent agent{RunningAgent::Cgroup::none};
    TestHost host{agent};
    const auto stream = host.open(spawn_request(
        {.argv = {"/bin/sh", "-c", "setsid sh -c 'sleep 1010 & echo $!; wait' & wait"}, .wall_ms = 300}));
    Heard& heard = host.until_end(stream);
    EXPECT_TRUE(heard.exited()->timed_out);
    until_gone(host, static_cast<std::uint32_t>(std::stoul(heard.out())));
}

TEST_F(AgentProcess, TakesTheGroupsOfEndedCommandsAway) {
    if (agent.cgroup().empty()) GTEST_SKIP() << "no cgroup v2 here";
    Heard& heard = host.shell("setsid sleep 1011 </dev/null >/dev/null 2>&1 & echo $!");
    for (int i = 0; i < 5; ++i) host.shell("true");
    const auto groups = [&] {
        return std::ranges::count_if(std::filesystem::directory_iterator{agent.cgroup()},
                                     [](const auto& entry) { return entry.is_directory(); });
    };
    // One more is kept for the next command.
    host.until([&] {
        host.step(5);
        return groups() == 2;
    });
    host.shell("kill -9 " + heard.out());
    host.until([&] {
        host.step(5);
        return groups() == 1;
    });
    EXPECT_GT(host.shell("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done").exited()->tree_cpu_us, 1000u);
    EXPECT_LT(host.shell("true").exited()->tree_cpu_us, 100'000u) << "the work of an earlier command";
}

TEST_F(AgentProcess, ACommandAfterAKilledOneIsItsOwn) {
    const auto stream = host.open(spawn_request({.argv = {"/bin/sleep", "1012"}}));
    host.until([&] { return host.heard(stream).started().has_value(); });
    host.ask(signal_request(host.heard(stream).started()->pid, SIGKILL));
    EXPECT_EQ(host.until_end(stream).exited()->signal, static_cast<std::uint32_t>(SIGKILL));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(host.shell("sleep 0.01; echo fine").out(), "fine\n");
}

TEST_F(AgentProcess, NobodyMayTraceOrReadIt) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    const std::string proc = "/proc/" + std::to_string(agent.pid());
    Heard& heard = host.run({.argv = {"/bin/sh", "-c",
                                      "ls " + proc + "/fd; cat " + proc + "/environ; readlink " + proc +
                                          "/exe; head -c 1 " + proc + "/mem"},
                             .user = "nobody"});
    EXPECT_EQ(heard.out(), "");
    EXPECT_EQ(std::ranges::count(heard.err(), '\n'), 3) << heard.err();  // readlink fails silently
}

TEST_F(AgentProcess, AnIdleAgentIsSmall) {
    host.shell("head -c 20000000 /dev/zero");
    host.until([&] {
        host.step(20);
        return agent.rss_kib() < 1024;
    });
    EXPECT_LT(agent.rss_kib(), 1024u);
}

}  // namespace
}  // namespace oyat::agent
