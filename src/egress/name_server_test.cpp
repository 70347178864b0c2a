#include "egress/asking_for_tests.hpp"

namespace oyat::egress {
namespace {

using namespace testing;

TEST(NameServer, AnswersOverTcpToo) {
    in_house([](House& house) -> Task<> {
        Fd socket = co_await connect(house.dns_tcp, kSoon);
        const auto stream = make_stream(house.executor, std::move(socket));
        const std::string question = ask_for("localhost", Type::a);
        for (int i = 0; i < 2; ++i) {
            co_await stream->write_all(std::string{"\0", 1} + static_cast<char>(question.size()) + question);
            std::array<char, 512> buffer;
            const std::size_t n = co_await with_timeout(kSoon, "read", stream->read_some(buffer));
            EXPECT_EQ(or_throw(dns::parse_reply({buffer.data() + 2, n - 2})).answers.size(), 1u);
        }
    });
}

TEST(NameServer, HangsUpOnStreamsThatAreNotDns) {
    in_house([](House& house) -> Task<> {
        Fd socket = co_await connect(house.dns_tcp, kSoon);
        const auto stream = make_stream(house.executor, std::move(socket));
        std::string request = "GET / HTTP/1.0\r\n\r\n";
        request.resize(2 + 0x4745, 'x');  // as long as "GE" says when it is read as a length
        co_await stream->write_all(request);
        std::array<char, 16> buffer;
        EXPECT_EQ(co_await with_timeout(kSoon, "read", stream->read_some(buffer)), 0u);
    });
}

TEST(NameServer, RepeatedQuestionsMakeOneEvent) {
    in_house([](House& house) -> Task<> {
        house.egress->update(kBox, offline(2));
        for (int i = 0; i < 5; ++i) co_await ask(house, "www.test", Type::a);
        EXPECT_EQ(house.log.lines.size(), 1u);
        house.egress->detach(kBox);
        EXPECT_TRUE(house.log.has("dns.denied", "\"count\":4"));
    });
}

TEST(NameServer, WhatIsNoQuestionCountsToo) {  // else a flood of it would keep the loop for itself
    EgressConfig settings;
    settings.limits.names_per_second = 0.001;
    settings.limits.names_burst = 2;
    in_house(
        [](House& house) -> Task<> {
            AsyncFd socket{house.executor, udp_socket()};
            const std::string much(8000, 'x');
            for (int i = 0; i < 3; ++i) {
                ::sendto(socket.get(), much.data(), much.size(), 0, house.dns_udp.data(),
                         house.dns_udp.size());
            }
            while (!house.log.has("limit.hit", "names")) co_await sleep_for(Millis{1});
            EXPECT_TRUE(house.log.has("dns.denied", "malformed"));
        },
        std::move(settings));
}

TEST(NameServer, OneStreamTooManyIsClosedAndTold) {
    EgressConfig settings;
    settings.limits.dns_streams = 1;
    in_house(
        [](House& house) -> Task<> {
            const auto first = make_stream(house.executor, co_await connect(house.dns_tcp, kSoon));
            const auto second = make_stream(house.executor, co_await connect(house.dns_tcp, kSoon));
            std::array<char, 16> buffer;
            EXPECT_EQ(co_await with_timeout(kSoon, "read", second->read_some(buffer)), 0u);
            EXPECT_TRUE(house.log.has("limit.hit", "dns_streams"));
        },
        std::move(settings));
}

TEST(NameServer, AsksNoMoreThanTheLimit) {
    EgressConfig settings;
    settings.limits.names_per_second = 0.001;
    settings.limits.names_burst = 2;
    in_house(
        [](House& house) -> Task<> {
            co_await ask(house, "localhost", Type::a);
            co_await ask(house, "localhost", Type::a);
            AsyncFd socket{house.executor, udp_socket()};
            const std::string question = ask_for("localhost", Type::a);
            ::sendto(socket.get(), question.data(), question.size(), 0, house.dns_udp.data(),
                     house.dns_udp.size());
            while (!house.log.has("limit.hit", "names")) co_await sleep_for(Millis{1});
        },
        std::move(settings));
}

}  // namespace
}  // namespace oyat::egress
