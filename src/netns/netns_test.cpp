#include "netns/netns.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include "base/throwing.hpp"
#include "netns/test_sockets.hpp"
#include "netns/visit.hpp"

namespace oyat::netns {
namespace {

using namespace test;

class NetnsTest : public testing::Test {
protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "making a network namespace needs root";
    }
};

Fd socket_inside(const Netns& netns, int family, int type, int protocol = 0) {
    return test::socket_inside(netns.fd(), family, type, protocol);
}

TEST_F(NetnsTest, EveryTcpConnectionArrivesAtTheProxyWithItsDestination) {
    Netns netns = Netns::make(Shape::loopback);
    const Listeners listeners = netns.make_listeners();
    for (const auto& to :
         {address("8.8.8.8", 443), address("192.168.1.1", 22), address("169.254.169.254", 80)}) {
        const Fd client = socket_inside(netns, AF_INET, SOCK_STREAM);
        ASSERT_EQ(connect_error(client.get(), to), 0) << text(to);
        const Fd accepted = accept_one(listeners.proxy.get());
        ASSERT_TRUE(accepted) << text(to);
        EXPECT_EQ(original_destination(accepted.get()), text(to));
    }
}

TEST_F(NetnsTest, BytesFlowBothWaysThroughARedirectedConnection) {
    Netns netns = Netns::make(Shape::loopback);
    const Listeners listeners = netns.make_listeners();
    const Fd client = socket_inside(netns, AF_INET, SOCK_STREAM);
    ASSERT_EQ(connect_error(client.get(), address("8.8.8.8", 80)), 0);
    const Fd accepted = accept_one(listeners.proxy.get());
    std::array<char, 8> got{};
    ASSERT_EQ(::send(client.get(), "ping", 4, 0), 4);
    ASSERT_EQ(::recv(accepted.get(), got.data(), got.size(), 0), 4);
    ASSERT_EQ(::send(accepted.get(), "pong", 4, 0), 4);
    ASSERT_EQ(::recv(client.get(), got.data(), got.size(), 0), 4);
    EXPECT_EQ((std::string_view{got.data(), 4}), "pong");
}

TEST_F(NetnsTest, AConnectionStraightToTheListenerShowsTheListenerAsDestination) {
    Netns netns = Netns::make(Shape::loopback);
    const Listeners listeners = netns.make_listeners();
    const Fd client = socket_inside(netns, AF_INET, SOCK_STREAM);
    ASSERT_EQ(connect_error(client.get(), address("127.0.0.1", kProxyPort)), 0);
    const Fd accepted = accept_one(listeners.proxy.get());
    sockaddr_in to{};
    socklen_t length = sizeof to;
    // With no translation to look up, the kernel either names the listener itself or knows of none.
    if (::getsockopt(accepted.get(), SOL_IP, SO_ORIGINAL_DST, &to, &length) == 0) {
        EXPECT_EQ(text(to), "127.0.0.1:65501");
    } else {
        EXPECT_EQ(errno, ENOENT);
    }
}

TEST_F(NetnsTest, DnsToAnyServerIsAnsweredByOurSocket) {
    Netns netns = Netns::make(Shape::loopback);
    const Listeners listeners = netns.make_listeners();
    const Fd client = socket_inside(netns, AF_INET, SOCK_DGRAM);
    ASSERT_EQ(connect_error(client.get(), address("9.9.9.9", 53)), 0);  // so only its answers are accepted
    ASSERT_EQ(::send(client.get(), "q", 1, 0), 1);
    std::array<char, 8> got{};
    sockaddr_in from{};
    socklen_t length = sizeof from;
    ASSERT_EQ(::recvfrom(listeners.dns_udp.get(), got.data(), got.size(), 0,
                         reinterpret_cast<sockaddr*>(&from), &length),
              1);
    ASSERT_EQ(::sendto(listeners.dns_udp.get(), "answer", 6, 0, reinterpret_cast<sockaddr*>(&from), length),
              6);
    EXPECT_EQ(::recv(client.get(), got.data(), got.size(), 0), 6);
}

TEST_F(NetnsTest, DnsOverTcpHasItsOwnListener) {
    Netns netns = Netns::make(Shape::loopback);
    const Listeners listeners = netns.make_listeners();
    const Fd client = socket_inside(netns, AF_INET, SOCK_STREAM);
    ASSERT_EQ(connect_error(client.get(), address("9.9.9.9", 53)), 0);
    EXPECT_TRUE(accept_one(listeners.dns_tcp.get()));
}

TEST_F(NetnsTest, WithoutListenersAConnectionIsRefusedAtOnce) {
    const Netns netns = Netns::make(Shape::loopback);
    const Fd client = socket_inside(netns, AF_INET, SOCK_STREAM);
    EXPECT_EQ(connect_error(client.get(), address("8.8.8.8", 443)), ECONNREFUSED);
}

TEST_F(NetnsTest, OtherUdpFailsAtOnce) {
    Netns netns = Netns::make(Shape::loopback);
    const Listeners listeners = netns.make_listeners();
    const Fd udp = socket_inside(netns, AF_INET, SOCK_DGRAM);
    for (const std::uint16_t port : {443, 123, 500, 51820}) {
        EXPECT_EQ(send_error(udp.get(), address("8.8.8.8", port)), EPERM) << port;
    }
}

TEST_F(NetnsTest, PingToOutsideFailsAtOnceAndToOurselvesWorksForAnyUser) {
    const Netns netns = Netns::make(Shape::loopback);
    const Fd ping = socket_inside(netns, AF_INET, SOCK_DGRAM, IPPROTO_ICMP);
    icmphdr echo{.type = ICMP_ECHO};
    const auto send_to = [&](const sockaddr_in& to) {
        return ::sendto(ping.get(), &echo, sizeof echo, 0, reinterpret_cast<const sockaddr*>(&to),
                        sizeof to) < 0
                   ? errno
                   : 0;
    };
    EXPECT_EQ(send_to(address("8.8.8.8", 0)), EPERM);
    EXPECT_EQ(send_to(address("127.0.0.1", 0)), 0);
}

TEST_F(NetnsTest, Ipv6BeyondLoopbackIsUnreachableAtOnce) {
    const Netns netns = Netns::make(Shape::loopback);
    for (const char* host : {"2001:4860:4860::8888", "fe80::1", "ff02::1", "64:ff9b::808:808"}) {
        const Fd tcp = socket_inside(netns, AF_INET6, SOCK_STREAM);
        sockaddr_in6 to{.sin6_family = AF_INET6, .sin6_port = ::htons(443)};
        ASSERT_EQ(::inet_pton(AF_INET6, host, &to.sin6_addr), 1);
        if (std::string_view{host}.starts_with("f")) to.sin6_scope_id = 1;
        EXPECT_NE(connect_error(tcp.get(), to), 0) << host;
        const Fd udp = socket_inside(netns, AF_INET6, SOCK_DGRAM);
        EXPECT_EQ(send_error(udp.get(), to), ENETUNREACH) << host;
    }
}

TEST_F(NetnsTest, AnIpv4AddressInIpv6ClothesTakesTheSameWay) {
    Netns netns = Netns::make(Shape::loopback);
    const Listeners listeners = netns.make_listeners();
    sockaddr_in6 to{.sin6_family = AF_INET6, .sin6_port = ::htons(443)};
    ASSERT_EQ(::inet_pton(AF_INET6, "::ffff:8.8.8.8", &to.sin6_addr), 1);
    const Fd udp = socket_inside(netns, AF_INET6, SOCK_DGRAM);
    EXPECT_EQ(send_error(udp.get(), to), EPERM);
    const Fd tcp = socket_inside(netns, AF_INET6, SOCK_STREAM);
    ASSERT_EQ(connect_error(tcp.get(), to), 0);
    EXPECT_EQ(original_destination(accept_one(listeners.proxy.get()).get()), "8.8.8.8:443");
}

Fd listen_inside(const Netns& netns, const char* host, std::uint16_t port) {
    Fd server = socket_inside(netns, AF_INET, SOCK_STREAM);
    const sockaddr_in at = address(host, port);
    const Visit visit{netns.fd()};
    sys(::bind(server.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at), "bind");
    sys(::listen(server.get(), 8), "listen");
    return server;
}

TEST_F(NetnsTest, DialReachesAServerOnLoopback) {
    const Netns netns = Netns::make(Shape::loopback);
    const Fd server = listen_inside(netns, "127.0.0.1", 80);
    const Fd dialed = netns.dial(80);
    EXPECT_TRUE(accept_one(server.get()));
}

TEST_F(NetnsTest, DialReachesAServerThatIsBoundToIpv6LoopbackAlone) {
    const Netns netns = Netns::make(Shape::loopback);
    const Fd server = socket_inside(netns, AF_INET6, SOCK_STREAM);
    const sockaddr_in6 at{.sin6_family = AF_INET6, .sin6_port = ::htons(3000), .sin6_addr = in6addr_loopback};
    ASSERT_EQ(::bind(server.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at), 0)
        << std::strerror(errno);
    ASSERT_EQ(::listen(server.get(), 8), 0);
    const Fd dialed = netns.dial(3000);
    EXPECT_TRUE(accept_one(server.get()));
}

TEST_F(NetnsTest, DialRefusesWhereNobodyListensAndOurOwnPorts) {
    Netns netns = Netns::make(Shape::loopback);
    const Listeners listeners = netns.make_listeners();
    const auto code_of = [&](std::uint16_t port) {
        try {
            (void)netns.dial(port);
        } catch (const Error& e) {
            return e.code();
        }
        return Errc::internal;
    };
    EXPECT_EQ(code_of(81), Errc::unavailable);
    EXPECT_EQ(code_of(0), Errc::invalid_argument);
    EXPECT_EQ(code_of(kProxyPort), Errc::invalid_argument);
    EXPECT_EQ(code_of(kDnsPort), Errc::invalid_argument);
}

// The namespace as a later keeper finds it: by a process that is in it.
Netns again(const Netns& netns) {
    const Visit visit{netns.fd()};
    return Netns::of_process(::gettid(), Shape::loopback);
}

int tracked_flows(const Netns& netns) {
    const Visit visit{netns.fd()};
    std::ifstream file{"/proc/sys/net/netfilter/nf_conntrack_count"};
    int count = -1;
    file >> count;
    return count;
}

// Threats X-06: a tracked flow takes kernel memory that is charged to nobody.
TEST_F(NetnsTest, TrafficAmongTheSandboxesOwnProgramsIsNotTracked) {
    Netns netns = Netns::make(Shape::loopback);
    const Listeners listeners = netns.make_listeners();
    const Fd udp = socket_inside(netns, AF_INET, SOCK_DGRAM);
    for (std::uint16_t port = 1000; port < 1500; ++port) {
        (void)send_error(udp.get(), address("127.9.8.7", port));
        (void)send_error(udp.get(), address("10.254.0.2", port));
    }
    const Fd server = listen_inside(netns, "10.254.0.2", 8080);
    const Fd client = socket_inside(netns, AF_INET, SOCK_STREAM);
    EXPECT_EQ(connect_error(client.get(), address("10.254.0.2", 8080)), 0);
    EXPECT_EQ(tracked_flows(netns), 0);
}

TEST_F(NetnsTest, AFloodOfNewFlowsIsCutOff) {
    Netns netns = Netns::make(Shape::loopback);
    const Listeners listeners = netns.make_listeners();
    const Fd udp = socket_inside(netns, AF_INET, SOCK_DGRAM);
    const auto start = std::chrono::steady_clock::now();
    int passed = 0;
    for (std::uint32_t i = 0; i < 30'000; ++i) {
        sockaddr_in to{
            .sin_family = AF_INET, .sin_port = ::htons(53), .sin_addr = {.s_addr = ::htonl(0x01000000 + i)}};
        passed += send_error(udp.get(), to) == 0 ? 1 : 0;
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    EXPECT_LE(passed, 4000 + static_cast<int>(took.count() * 2000) + 100);
    EXPECT_LE(tracked_flows(netns), passed);
}

// While oyatd is dead its listeners are closed, and a program inside can take their ports.
TEST_F(NetnsTest, AProgramThatTakesAReservedPortDoesNotStopNewListeners) {
    const Netns made = Netns::make(Shape::loopback);
    const Fd thief = listen_inside(made, "0.0.0.0", kProxyPort);
    const Fd thief_of_dns = listen_inside(made, "127.0.0.1", kDnsPort);
    Netns netns = again(made);
    const Listeners listeners = netns.make_listeners();
    const Fd client = socket_inside(netns, AF_INET, SOCK_STREAM);
    ASSERT_EQ(connect_error(client.get(), address("8.8.8.8", 443)), 0);
    EXPECT_EQ(original_destination(accept_one(listeners.proxy.get()).get()), "8.8.8.8:443");
    const Fd resolver = socket_inside(netns, AF_INET, SOCK_STREAM);
    ASSERT_EQ(connect_error(resolver.get(), address("9.9.9.9", 53)), 0);
    EXPECT_TRUE(accept_one(listeners.dns_tcp.get()));
}

TEST_F(NetnsTest, ListenersAreMadeAnewAfterBothDaemonsDied) {
    Netns first = Netns::make(Shape::loopback);
    (void)first.make_listeners();
    Netns second = again(first);
    const Listeners listeners = second.make_listeners();
    const Fd client = socket_inside(second, AF_INET, SOCK_STREAM);
    ASSERT_EQ(connect_error(client.get(), address("8.8.8.8", 443)), 0);
    EXPECT_TRUE(accept_one(listeners.proxy.get()));
}

TEST_F(NetnsTest, ListenersFindTheirPortsAgainAfterTheThiefHasGone) {
    const Netns made = Netns::make(Shape::loopback);
    {
        const Fd thief = listen_inside(made, "127.0.0.1", kProxyPort);
        (void)again(made).make_listeners();
    }
    Netns netns = again(made);
    const Listeners listeners = netns.make_listeners();
    const Fd client = socket_inside(netns, AF_INET, SOCK_STREAM);
    ASSERT_EQ(connect_error(client.get(), address("8.8.8.8", 443)), 0);
    EXPECT_TRUE(accept_one(listeners.proxy.get()));
}

TEST_F(NetnsTest, TheCallerIsBackHomeAfterwards) {
    const Fd before = Visit::open_here();
    const Netns netns = Netns::make(Shape::loopback);
    EXPECT_EQ(Netns::of_process(::getpid(), Shape::loopback).inode(),
              Netns::of_process(::getppid(), Shape::loopback).inode());
    EXPECT_NE(netns.inode(), Netns::of_process(::getpid(), Shape::loopback).inode());
}

}  // namespace
}  // namespace oyat::netns
