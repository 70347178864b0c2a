#include <gtest/gtest.h>
#include <netinet/ip_icmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cstring>
#include <fstream>
#include <memory>
#include <string_view>

#include "netns/netns.hpp"
#include "netns/test_guest.hpp"
#include "netns/test_sockets.hpp"
#include "netns/visit.hpp"

namespace oyat::netns {
namespace {

using namespace test;

// The promises of netns_test.cpp where a network stack of its own speaks to us over a link.
class LinkedNetns : public testing::TestWithParam<Shape> {
protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "making a network namespace needs root";
        if (GetParam() == Shape::tap && ::access("/dev/net/tun", R_OK | W_OK) != 0) {
            GTEST_SKIP() << "this machine has no /dev/net/tun";
        }
        netns_ = std::make_unique<Netns>(Netns::make(GetParam()));
        guest_ = std::make_unique<Guest>(*netns_);
    }

    [[nodiscard]] Fd socket(int family, int type, int protocol = 0) const {
        return socket_inside(guest_->netns(), family, type, protocol);
    }

    [[nodiscard]] int tracked_flows() const {
        const Visit visit{netns_->fd()};
        std::ifstream file{"/proc/sys/net/netfilter/nf_conntrack_count"};
        int count = -1;
        file >> count;
        return count;
    }

    std::unique_ptr<Netns> netns_;
    std::unique_ptr<Guest> guest_;
};

TEST_P(LinkedNetns, EveryTcpConnectionArrivesAtTheProxyWithItsDestination) {
    const Listeners listeners = netns_->make_listeners();
    for (const auto& to :
         {address("8.8.8.8", 443), address("192.168.1.1", 22), address("169.254.169.254", 80)}) {
        const Fd client = socket(AF_INET, SOCK_STREAM);
        ASSERT_EQ(connect_error(client.get(), to), 0) << text(to);
        const Fd accepted = accept_one(listeners.proxy.get());
        ASSERT_TRUE(accepted) << text(to);
        EXPECT_EQ(original_destination(accepted.get()), text(to));
    }
}

TEST_P(LinkedNetns, BytesFlowBothWays) {
    const Listeners listeners = netns_->make_listeners();
    const Fd client = socket(AF_INET, SOCK_STREAM);
    ASSERT_EQ(connect_error(client.get(), address("8.8.8.8", 80)), 0);
    const Fd accepted = accept_one(listeners.proxy.get());
    std::array<char, 8> got{};
    ASSERT_EQ(::send(client.get(), "ping", 4, 0), 4);
    ASSERT_EQ(::recv(accepted.get(), got.data(), got.size(), 0), 4);
    ASSERT_EQ(::send(accepted.get(), "pong", 4, 0), 4);
    ASSERT_EQ(::recv(client.get(), got.data(), got.size(), 0), 4);
    EXPECT_EQ((std::string_view{got.data(), 4}), "pong");
}

TEST_P(LinkedNetns, AConnectionStraightToUsIsReset) {
    const Listeners listeners = netns_->make_listeners();
    for (const std::uint16_t port : {kProxyPort, kDnsPort, std::uint16_t{22}}) {
        const Fd client = socket(AF_INET, SOCK_STREAM);
        EXPECT_EQ(connect_error(client.get(), address("10.254.0.1", port)), ECONNREFUSED) << port;
    }
}

TEST_P(LinkedNetns, DnsToAnyServerIsAnsweredByOurSocket) {
    const Listeners listeners = netns_->make_listeners();
    for (const char* server : {"9.9.9.9", "10.254.0.53", "10.254.0.1"}) {
        const Fd client = socket(AF_INET, SOCK_DGRAM);
        ASSERT_EQ(connect_error(client.get(), address(server, 53)), 0);  // so only its answers are accepted
        ASSERT_EQ(::send(client.get(), "q", 1, 0), 1);
        pollfd asked{listeners.dns_udp.get(), POLLIN, 0};
        ASSERT_EQ(::poll(&asked, 1, 2000), 1) << server;
        std::array<char, 8> got{};
        sockaddr_in from{};
        socklen_t length = sizeof from;
        ASSERT_EQ(::recvfrom(listeners.dns_udp.get(), got.data(), got.size(), 0,
                             reinterpret_cast<sockaddr*>(&from), &length),
                  1);
        ASSERT_EQ(
            ::sendto(listeners.dns_udp.get(), "answer", 6, 0, reinterpret_cast<sockaddr*>(&from), length), 6);
        EXPECT_EQ(::recv(client.get(), got.data(), got.size(), 0), 6) << server;
    }
}

TEST_P(LinkedNetns, DnsOverTcpHasItsOwnListener) {
    const Listeners listeners = netns_->make_listeners();
    for (const char* server : {"9.9.9.9", "10.254.0.1"}) {
        const Fd client = socket(AF_INET, SOCK_STREAM);
        ASSERT_EQ(connect_error(client.get(), address(server, 53)), 0) << server;
        EXPECT_TRUE(accept_one(listeners.dns_tcp.get())) << server;
    }
}

TEST_P(LinkedNetns, WithoutListenersAConnectionIsRefusedAtOnce) {
    const Fd client = socket(AF_INET, SOCK_STREAM);
    EXPECT_EQ(connect_error(client.get(), address("8.8.8.8", 443)), ECONNREFUSED);
}

// More than the kernel answers in a second when its refusals are rationed.
TEST_P(LinkedNetns, OtherUdpIsRefusedAtOnceHoweverOften) {
    const Listeners listeners = netns_->make_listeners();
    for (int i = 0; i < 40; ++i) {
        const Fd udp = socket(AF_INET, SOCK_DGRAM);
        const sockaddr_in to = address(i % 2 == 0 ? "8.8.8.8" : "10.254.0.1", i % 3 == 0 ? 443 : 123);
        ASSERT_EQ(connect_error(udp.get(), to), 0);
        ASSERT_EQ(::send(udp.get(), "?", 1, 0), 1);
        char answer = 0;
        EXPECT_EQ(::recv(udp.get(), &answer, 1, 0), -1);
        EXPECT_EQ(errno, ECONNREFUSED) << text(to) << " try " << i;
    }
    EXPECT_EQ(tracked_flows(), 0);
}

TEST_P(LinkedNetns, Ipv6HasNoWay) {
    const Listeners listeners = netns_->make_listeners();
    for (const char* host : {"2001:4860:4860::8888", "64:ff9b::808:808", "::1"}) {
        const Fd tcp = socket(AF_INET6, SOCK_STREAM);
        sockaddr_in6 to{.sin6_family = AF_INET6, .sin6_port = ::htons(443)};
        ASSERT_EQ(::inet_pton(AF_INET6, host, &to.sin6_addr), 1);
        EXPECT_NE(connect_error(tcp.get(), to), 0) << host;
    }
    const Visit visit{netns_->fd()};
    std::ifstream file{"/proc/thread-self/net/if_inet6"};
    EXPECT_EQ(file.peek(), std::ifstream::traits_type::eof()) << "we have an IPv6 address";
}

TEST_P(LinkedNetns, NothingComesBackToAForgedSource) {
    const Listeners listeners = netns_->make_listeners();
    const Fd udp = socket(AF_INET, SOCK_DGRAM);
    const int on = 1;
    ASSERT_EQ(::setsockopt(udp.get(), SOL_IP, IP_TRANSPARENT, &on, sizeof on), 0);
    const sockaddr_in forged = address("192.0.2.1", 4000);
    ASSERT_EQ(::bind(udp.get(), reinterpret_cast<const sockaddr*>(&forged), sizeof forged), 0);
    ASSERT_EQ(send_error(udp.get(), address("9.9.9.9", 53)), 0);
    // A question with the true source, sent later over the same link, is the one that arrives.
    const Fd honest = socket(AF_INET, SOCK_DGRAM);
    ASSERT_EQ(send_error(honest.get(), address("9.9.9.9", 53)), 0);
    pollfd asked{listeners.dns_udp.get(), POLLIN, 0};
    ASSERT_EQ(::poll(&asked, 1, 2000), 1);
    sockaddr_in from{};
    socklen_t length = sizeof from;
    char question = 0;
    ASSERT_EQ(
        ::recvfrom(listeners.dns_udp.get(), &question, 1, 0, reinterpret_cast<sockaddr*>(&from), &length), 1);
    EXPECT_EQ(from.sin_addr.s_addr, address("10.254.0.2", 0).sin_addr.s_addr);
    EXPECT_EQ(::recvfrom(listeners.dns_udp.get(), &question, 1, MSG_DONTWAIT, nullptr, nullptr), -1);
}

TEST_P(LinkedNetns, DialReachesAServerAndSaysWhenThereIsNone) {
    const Fd server = socket(AF_INET, SOCK_STREAM);
    const sockaddr_in any = address("0.0.0.0", 8080);
    ASSERT_EQ(::bind(server.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any), 0);
    ASSERT_EQ(::listen(server.get(), 8), 0);
    const Fd dialed = netns_->dial(8080);
    const Fd accepted = accept_one(server.get());
    ASSERT_TRUE(accepted);
    pollfd connected{dialed.get(), POLLOUT, 0};
    ASSERT_EQ(::poll(&connected, 1, 2000), 1);
    ASSERT_EQ(::send(dialed.get(), "hello", 5, 0), 5);
    std::array<char, 8> got{};
    EXPECT_EQ(::recv(accepted.get(), got.data(), got.size(), 0), 5);

    const auto refusal = [&]() -> int {
        try {
            const Fd none = netns_->dial(81);
            pollfd refused{none.get(), POLLOUT, 0};
            ::poll(&refused, 1, 2000);
            int error = 0;
            socklen_t size = sizeof error;
            ::getsockopt(none.get(), SOL_SOCKET, SO_ERROR, &error, &size);
            return error;
        } catch (const Error& error) {
            return error.code() == Errc::unavailable ? ECONNREFUSED : 0;
        }
    };
    EXPECT_EQ(refusal(), ECONNREFUSED);
    EXPECT_THROW((void)netns_->dial(kProxyPort), Error);
}

// The keeper was killed: somebody stood in the namespace meanwhile.
TEST_P(LinkedNetns, ALaterKeeperFindsItAndMakesListenersAnew) {
    (void)netns_->make_listeners();
    const pid_t holder = ::fork();
    if (holder == 0) {
        ::setns(netns_->fd(), CLONE_NEWNET);
        ::pause();
        ::_exit(0);
    }
    const auto stands_inside = [&] {
        return Netns::of_process(holder, GetParam()).inode() == netns_->inode();
    };
    while (!stands_inside()) ::usleep(1000);
    Netns found = Netns::of_process(holder, GetParam());
    ::kill(holder, SIGKILL);
    ::waitpid(holder, nullptr, 0);

    const Listeners listeners = found.make_listeners();
    const Fd client = socket(AF_INET, SOCK_STREAM);
    ASSERT_EQ(connect_error(client.get(), address("8.8.8.8", 443)), 0);
    const Fd accepted = accept_one(listeners.proxy.get());
    ASSERT_TRUE(accepted);
    EXPECT_EQ(original_destination(accepted.get()), "8.8.8.8:443");
}

INSTANTIATE_TEST_SUITE_P(Shapes, LinkedNetns, testing::Values(Shape::tap, Shape::veth),
                         [](const auto& shape) { return shape.param == Shape::tap ? "tap" : "veth"; });

}  // namespace
}  // namespace oyat::netns
