#include "egress/dns_message.hpp"
#include "egress/fake_resolver_for_tests.hpp"
#include "egress/house_for_tests.hpp"
#include "io/datagram.hpp"

namespace oyat::egress {
namespace {

using namespace testing;
using dns::Rcode;
using dns::Type;

// The resolver of the host: answers one question with these records.
Task<> answer_once(House& house, std::string records, int count, Rcode rcode = Rcode::ok) {
    AsyncFd socket{house.executor, Fd{::dup(house.resolver.get())}};
    std::array<char, 1500> buffer;
    co_await socket.readable();
    sockaddr_storage from{};
    socklen_t size = sizeof from;
    const ssize_t n =
        ::recvfrom(socket.get(), buffer.data(), buffer.size(), 0, reinterpret_cast<sockaddr*>(&from), &size);
    std::string reply{buffer.data(), static_cast<std::size_t>(n) - 11};  // without the question's OPT record
    reply[2] = static_cast<char>(0x81);
    reply[3] = static_cast<char>(0x80 | std::to_underlying(rcode));
    reply[7] = static_cast<char>(count);
    reply[11] = 0;
    reply += records;
    ::sendto(socket.get(), reply.data(), reply.size(), 0, reinterpret_cast<sockaddr*>(&from), size);
}

std::string ask_for(std::string_view name, Type type) {
    return dns::write_query(77, {.name = or_throw(dns::to_wire(name)), .type = type});
}

Task<dns::Reply> ask(House& house, std::string_view name, Type type) {
    AsyncFd socket{house.executor, udp_socket()};
    sys(::connect(socket.get(), house.dns_udp.data(), house.dns_udp.size()), "connect");
    const std::string question = ask_for(name, type);
    ::send(socket.get(), question.data(), question.size(), 0);
    co_await with_timeout(kSoon, "wait for the answer", socket.readable());
    std::array<char, 1500> buffer;
    const ssize_t n = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
    dns::Reply reply = or_throw(dns::parse_reply({buffer.data(), static_cast<std::size_t>(n)}));
    EXPECT_EQ(reply.id, 77);
    co_return reply;
}

Task<dns::Reply> ask_with_resolver(House& house, std::string_view name, std::string records, int count) {
    TaskGroup resolver{house.executor};
    resolver.spawn(answer_once(house, std::move(records), count));
    dns::Reply reply = co_await ask(house, name, Type::a);
    co_await resolver.close();
    co_return reply;
}

TEST(NameServer, GivesTheSandboxWhatTheHostsResolverSays) {
    in_house([](House& house) -> Task<> {
        const dns::Reply reply =
            co_await ask_with_resolver(house, "www.test", record(Type::a, {"\xC0\x00\x02\x07", 4}), 1);
        EXPECT_EQ(reply.rcode, Rcode::ok);
        EXPECT_EQ(reply.answers.size(), 1u);
        EXPECT_TRUE(house.log.has("dns.query", "www.test"));
    });
}

TEST(NameServer, AConnectionIsReportedWithTheNameItWasLookedUpBy) {
    in_house([](House& house) -> Task<> {
        co_await ask_with_resolver(house, "www.test", record(Type::a, {"\x7F\x00\x00\x01", 4}), 1);
        const auto inside = co_await house.connect_out();
        const auto outside = co_await house.accept_in();
        EXPECT_TRUE(house.log.has("connect.allowed", "\"host\":\"www.test\""));
    });
}

TEST(NameServer, WithholdsPrivateAddresses) {
    in_house([](House& house) -> Task<> {
        const dns::Reply reply =
            co_await ask_with_resolver(house, "evil.test", record(Type::a, "\x0A\x09\x09\x09"), 1);
        EXPECT_EQ(reply.rcode, Rcode::no_such_name);
        EXPECT_TRUE(reply.answers.empty());
        EXPECT_TRUE(house.log.has("dns.denied", "rebind"));
    });
}

TEST(NameServer, SaysServerFailureWhenNoResolverAnswers) {
    in_house([](House& house) -> Task<> {
        EXPECT_EQ((co_await ask(house, "www.test", Type::a)).rcode, Rcode::server_failure);
    });
}

TEST(NameServer, AnswersAtOnceWithoutInternet) {
    in_house([](House& house) -> Task<> {
        house.egress->update(kBox, offline(2));
        EXPECT_EQ((co_await ask(house, "www.test", Type::a)).rcode, Rcode::no_such_name);
        EXPECT_TRUE(house.log.has("dns.denied", "offline"));
        const dns::Reply own = co_await ask(house, kBox, Type::a);
        EXPECT_EQ(own.answers.size(), 1u);
    });
}

TEST(NameServer, KnowsNoIpv6AndRefusesOddTypes) {
    in_house([](House& house) -> Task<> {
        const dns::Reply reply = co_await ask(house, "www.test", Type::aaaa);
        EXPECT_EQ(reply.rcode, Rcode::ok);
        EXPECT_TRUE(reply.answers.empty());
        EXPECT_EQ((co_await ask(house, "www.test", Type::any)).rcode, Rcode::refused);
    });
}

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
