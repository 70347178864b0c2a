#include "agent/launch.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "agent/test_process.hpp"

namespace oyat::agent {
namespace {

using testing::AgentProcess;
using testing::code_of;
using testing::Heard;
using testing::TestHost;
using wire::ChannelId;

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

}  // namespace
}  // namespace oyat::agent
