#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "agent/test_process.hpp"

namespace oyat::agent {
namespace {

using testing::TestHost;

// An agent that looks for its host, and the socket that it looks at.
class ConnectingAgent : public ::testing::Test {
protected:
    void SetUp() override {
        char pattern[] = "/tmp/oyat-agent-test-XXXXXX";
        directory = ::mkdtemp(pattern);
        path = directory + "/host";
        pid = ::fork();
        if (pid == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            ::execl(OYAT_AGENT_PROGRAM, "oyat-agent", "--generation=7", "--connect", path.c_str(), nullptr);
            ::_exit(126);
        }
    }
    void TearDown() override {
        ::kill(pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
        std::filesystem::remove_all(directory);
    }
    void listen() {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.copy(address.sun_path, sizeof address.sun_path - 1);
        listener = Fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        ::unlink(path.c_str());
        ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        ASSERT_EQ(::listen(listener.get(), 4), 0);
    }
    Fd accepted() {
        pollfd wait{.fd = listener.get(), .events = POLLIN};
        EXPECT_EQ(::poll(&wait, 1, 20'000), 1) << "nobody came";
        return Fd{::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    }

    std::string directory;
    std::string path;
    pid_t pid = -1;
    Fd listener;
};

TEST_F(ConnectingAgent, ComesOnceItsHostListens) {
    listen();
    TestHost host{accepted()};
    EXPECT_EQ(host.hello().generation, 7u);
    EXPECT_EQ(host.shell("echo here").out(), "here\n");
}

TEST_F(ConnectingAgent, ComesAgainWhenItsHostIsGone) {
    listen();
    {
        const TestHost first{accepted()};
    }
    EXPECT_EQ(TestHost{accepted()}.shell("echo again").out(), "again\n");
    listen();  // as after a restore: another socket in the same place
    EXPECT_EQ(TestHost{accepted()}.shell("echo and again").out(), "and again\n");
}

TEST_F(ConnectingAgent, HangsUpWhenItIsQuiesced) {
    listen();
    TestHost host{accepted()};
    wire::Request quiesce;
    quiesce.quiesce.emplace();
    EXPECT_TRUE(wire::decode<wire::Quiesced>(host.ask(quiesce).events.at(0))->hangs_up);
    EXPECT_TRUE(host.closed_within(5000));
    wire::Request renew;
    renew.renew = wire::Renew{.generation = 8};
    TestHost next{accepted()};
    EXPECT_EQ(next.ask(renew).end->code, 0u);
    EXPECT_EQ(next.shell("echo renewed").out(), "renewed\n");
}

}  // namespace
}  // namespace oyat::agent
