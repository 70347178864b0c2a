#include "engine/gvisor/gvisor.hpp"

#include <arpa/inet.h>
#include <linux/netfilter_ipv4.h>
#include <sys/socket.h>

#include <fstream>
#include <thread>

#include "engine/gvisor/test_gvisor.hpp"

namespace oyat::gvisor::test {
namespace {

std::string read_file(const std::string& path) {
    std::ifstream file{path};
    return {std::istreambuf_iterator<char>{file}, {}};
}

TEST_F(GvisorTest, AnotherKernelAnswersInside) {
    AgentHost agent = started().agent();
    EXPECT_EQ(agent.hello.generation, 7U);
    const Ran ran = agent.run("cat /proc/version; ls -ld /; python3 -c 'print(6 * 7)'; exit 3");
    EXPECT_EQ(ran.code, 3) << ran.output;
    EXPECT_NE(ran.output.find("gvisor"), std::string::npos) << ran.output;
    EXPECT_NE(ran.output.find(" root root "), std::string::npos) << ran.output;
    EXPECT_NE(ran.output.find("42\n"), std::string::npos) << ran.output;
}

TEST_F(GvisorTest, RootInsideIsNobodyOnTheHost) {
    const Sandbox& sandbox = started();
    for (const pid_t pid : {sandbox.process.pid, world_->engine->in_network(sandbox.running())}) {
        const std::string status = read_file("/proc/" + std::to_string(pid) + "/status");
        const std::string id = std::to_string(sandbox.range.base);
        EXPECT_NE(status.find("Uid:\t" + id + "\t" + id + "\t" + id + "\t" + id), std::string::npos)
            << status;
        EXPECT_NE(status.find("NoNewPrivs:\t1"), std::string::npos) << status;
        EXPECT_NE(status.find("Seccomp:\t2"), std::string::npos) << status;
    }
    EXPECT_EQ(sandbox.agent().run("id -u; cat /etc/hostname; hostname").output,
              "0\n" + sandbox.id + "\n" + sandbox.id + "\n");
}

TEST_F(GvisorTest, OtherUsersInsideAreJudgedByTheirIds) {
    AgentHost agent = started().agent();
    EXPECT_EQ(agent.run("su -s /bin/sh nobody -c 'cat /etc/shadow >/dev/null 2>&1 || id -u'").output,
              "65534\n");
    EXPECT_EQ(agent.run("su -s /bin/sh nobody -c 'ls /dev/.oyat/door 2>&1 >/dev/null'").code, 2);
}

TEST_F(GvisorTest, ConnectionsArriveAtTheProxyWithTheirDestination) {
    Sandbox& sandbox = started();
    AgentHost agent = sandbox.agent();
    std::thread proxy{[&] {
        pollfd asked{sandbox.listeners.proxy.get(), POLLIN, 0};
        if (::poll(&asked, 1, 10'000) != 1) return;
        const Fd accepted{::accept4(sandbox.listeners.proxy.get(), nullptr, nullptr, SOCK_CLOEXEC)};
        sockaddr_in to{};
        socklen_t length = sizeof to;
        ::getsockopt(accepted.get(), SOL_IP, SO_ORIGINAL_DST, &to, &length);
        const std::string answer = ::inet_ntoa(to.sin_addr) + std::string{"\n"};
        [[maybe_unused]] const ssize_t n = ::write(accepted.get(), answer.data(), answer.size());
    }};
    const Ran ran = agent.run("bash -c 'exec 3<>/dev/tcp/8.8.8.8/443; cat <&3'");
    proxy.join();
    EXPECT_NE(ran.output.find("8.8.8.8\n"), std::string::npos) << ran.output;
}

TEST_F(GvisorTest, OtherTrafficFailsAtOnce) {
    AgentHost agent = started().agent();
    const Ran ran = agent.run(R"(python3 - <<'END'
import socket, time
def error(family, kind, to):
    start = time.monotonic()
    s = socket.socket(family, kind); s.settimeout(5)
    try:
        s.connect(to)
        if kind == socket.SOCK_DGRAM: s.send(b'?'); s.recv(1)
        return 'none'
    except OSError as e:
        return e.strerror if time.monotonic() - start < 3 else 'late'
print(error(socket.AF_INET, socket.SOCK_DGRAM, ('8.8.8.8', 443)))
print(error(socket.AF_INET, socket.SOCK_STREAM, ('10.254.0.1', 65501)))
print(error(socket.AF_INET6, socket.SOCK_STREAM, ('2001:4860:4860::8888', 443)) in ('none', 'late'))
END)");
    EXPECT_EQ(ran.output, "Connection refused\nConnection refused\nFalse\n");
}

TEST_F(GvisorTest, AServerInsideIsReached) {
    Sandbox& sandbox = started();
    AgentHost agent = sandbox.agent();
    (void)agent.run("cd /etc && setsid python3 -m http.server 8080 >/dev/null 2>&1 </dev/null & sleep 0");
    std::string got;
    for (int tries = 0; tries < 500 && got.empty(); ++tries) {
        Fd dialed;
        try {
            dialed = sandbox.network.dial(8080);
        } catch (const Error&) {  // refused at once: Python is not there yet
            ::usleep(10'000);
            continue;
        }
        pollfd connected{dialed.get(), POLLOUT, 0};
        ::poll(&connected, 1, 2000);
        constexpr std::string_view ask = "GET /hostname HTTP/1.0\r\n\r\n";
        if (::send(dialed.get(), ask.data(), ask.size(), MSG_NOSIGNAL) < 0) {
            ::usleep(10'000);
            continue;
        }
        pollfd answered{dialed.get(), POLLIN, 0};
        std::array<char, 256> part;
        while (::poll(&answered, 1, 2000) == 1) {
            const ssize_t n = ::read(dialed.get(), part.data(), part.size());
            if (n <= 0) break;
            got.append(part.data(), static_cast<std::size_t>(n));
        }
    }
    EXPECT_TRUE(got.ends_with(sandbox.id + "\n")) << got;
}

TEST_F(GvisorTest, FilesLandInTheBoxAndEndAtItsLimit) {
    Sandbox& sandbox = started();
    AgentHost agent = sandbox.agent();
    EXPECT_EQ(agent.run("echo kept >/srv/file && chown 1000 /srv/file && rm -r /var/tmp").code, 0);
    const std::string upper = dir_ + "/box/" + sandbox.id + "/u/";
    EXPECT_EQ(read_file(upper + "srv/file"), "kept\n");
    EXPECT_TRUE(std::filesystem::is_character_file(upper + "var/tmp"));
    EXPECT_FALSE(std::filesystem::exists(upper + "dev")) << "the box shows how a sandbox is started";
    const Ran full = agent.run("dd if=/dev/zero of=/big bs=1M count=100 2>&1");
    EXPECT_NE(full.output.find("No space left"), std::string::npos) << full.output;
    EXPECT_EQ(agent.run("rm /big && echo more >/srv/more").code, 0);
}

TEST_F(GvisorTest, NothingIsLeftOfOneThatWasKilled) {
    Sandbox& sandbox = started();
    (void)sandbox.agent().run("setsid sleep 1000 >/dev/null 2>&1 </dev/null &");
    engine::kill_process(sandbox.process);
    pollfd ended{sandbox.process.pidfd.get(), POLLIN, 0};
    ASSERT_EQ(::poll(&ended, 1, 10'000), 1);
    world_->engine->forget(sandbox.id);
    for (int i = 0; i < 5000 && !sandbox.group.empty(); ++i) ::usleep(1000);
    EXPECT_TRUE(sandbox.group.empty()) << "a process of it lives";
    EXPECT_TRUE(world_->engine->remembered().empty());
    EXPECT_EQ(read_file("/proc/self/mountinfo").find(sandbox.id), std::string::npos);
}

// The keeper was killed and a new one asks.
TEST_F(GvisorTest, ALaterEngineFindsAgentAndNetworkAgain) {
    Sandbox& sandbox = started();
    {
        AgentHost agent = sandbox.agent();
        EXPECT_EQ(agent.run("echo before >/srv/file").code, 0);
    }
    world_->engine.reset();
    world_->engine = world_->engine_of(dir_);
    await_trial();
    EXPECT_EQ(world_->engine->remembered(), std::vector<std::string>{sandbox.id});
    EXPECT_EQ(sandbox.agent().run("cat /srv/file").output, "before\n");
    const pid_t holder = world_->engine->in_network(sandbox.running());
    EXPECT_EQ(netns::Netns::of_process(holder, netns::Shape::veth).inode(), sandbox.network.inode());
}

TEST_F(GvisorTest, ANewConnectionCutsTheOldOne) {
    Sandbox& sandbox = started();
    AgentHost old = sandbox.agent();
    AgentHost fresh = sandbox.agent();
    EXPECT_EQ(fresh.run("echo here").output, "here\n");
    EXPECT_THROW((void)old.run("true"), Error);
}

TEST_F(GvisorTest, MemoryIsWrittenAndTwoSandboxesGoOnFromIt) {
    const std::string image = dir_ + "/image";
    std::filesystem::create_directory(image);
    const Fd into{::open(image.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    Sandbox& first = started();
    std::string token;
    {
        AgentHost agent = first.agent();
        (void)agent.run(
            "setsid python3 -c '\n"
            "import os, time\n"
            "token, n = os.urandom(8).hex(), 0\n"
            "while True:\n"
            "    n += 1\n"
            "    with open(\"/srv/new\", \"w\") as f: f.write(f\"{token} {n}\\n\")\n"
            "    os.rename(\"/srv/new\", \"/srv/token\")\n"
            "    time.sleep(0.01)\n' >/dev/null 2>&1 </dev/null &");
        token =
            agent.run("while [ ! -s /srv/token ]; do sleep 0.01; done; cut -d\" \" -f1 /srv/token").output;
        ASSERT_EQ(
            agent.ask({.quiesce = wire::Quiesce{.no_connections = true, .no_deleted_files = true}}).code, 0U);
    }
    bool copied = false;
    const auto work =
        world_->engine->checkpoint(first.running(), into.get(), engine::Engine::Afterwards::ends, [&] {
            if (!engine::has_ended(first.process)) throw Error{Errc::internal, "the sandbox goes on"};
            box("copy", first.id);
        });
    (void)outcome_of(*work);
    copied = std::filesystem::exists(dir_ + "/box/copy/u/srv/token");
    EXPECT_TRUE(copied);

    for (int i = 0; i < 2; ++i) {
        const Sandbox& next = started(into.get(), "copy");
        AgentHost agent = next.agent();
        EXPECT_EQ(agent.hello.generation, 8U);
        const Ran ran = agent.run(
            "a=$(cat /srv/token); while [ \"$(cat /srv/token)\" = \"$a\" ]; do sleep 0.01; done; "
            "cut -d\" \" -f1 /srv/token");
        EXPECT_EQ(ran.output, token) << "restore " << i;
    }
}

TEST_F(GvisorTest, AFileWithoutANameIsSeenBeforeItsCheckpointFails) {
    AgentHost agent = started().agent();
    const Ran ran = agent.run(
        "sh -c 'exec 7>/srv/gone; rm /srv/gone; exec sleep 100' >/dev/null 2>&1 & "
        "while [ -e /srv/gone ] || ! ls -l /proc/$!/fd | grep -q gone; do sleep 0.01; done; echo $!");
    const wire::Status refused = agent.ask({.quiesce = wire::Quiesce{.no_deleted_files = true}});
    EXPECT_EQ(refused.code, static_cast<std::uint32_t>(Errc::failed_precondition) + 1);
    EXPECT_NE(refused.message.find("'/srv/gone (deleted)'"), std::string::npos) << refused.message;
    const std::string end = "kill -9 " + ran.output;
    EXPECT_EQ(agent.run(end).code, 0) << "it goes on";
    EXPECT_EQ(agent.ask({.quiesce = wire::Quiesce{.no_deleted_files = true}}).code, 0U);
}

TEST_F(GvisorTest, OneWhoseMemoryCannotBeWrittenGoesOn) {
    Sandbox& sandbox = started();
    const Fd nowhere{::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    const auto work = world_->engine->checkpoint(sandbox.running(), nowhere.get(),
                                                 engine::Engine::Afterwards::ends, [] { FAIL(); });
    EXPECT_THROW((void)outcome_of(*work), Error);
    EXPECT_EQ(sandbox.agent().run("echo alive").output, "alive\n");
}

TEST_F(GvisorTest, WritingMemoryAndGoingOnIsRefused) {
    Sandbox& sandbox = started();
    EXPECT_THROW(
        (void)world_->engine->checkpoint(sandbox.running(), -1, engine::Engine::Afterwards::goes_on, [] {}),
        Error);
    EXPECT_EQ(sandbox.agent().run("echo alive").output, "alive\n");
}

TEST(GvisorTrial, SaysWhatIsMissing) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    std::string name = "/tmp/oyat-gvisor-XXXXXX";
    const std::string dir = ::mkdtemp(name.data());
    Trial none{"/nowhere/runsc", dir};
    EXPECT_FALSE(none.platform());
    EXPECT_EQ(none.reason(), "there is no /nowhere/runsc");

    Trial other{"/bin/true", dir};
    while (!other.platform() && other.reason() == "it is being tried out") ::usleep(1000);
    EXPECT_NE(other.reason().find("not runsc"), std::string::npos) << other.reason();
    std::filesystem::remove_all(dir);
}

}  // namespace
}  // namespace oyat::gvisor::test
