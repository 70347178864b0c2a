#include "base/sha256.hpp"
#include "egress/asking_for_tests.hpp"

namespace oyat::egress {
namespace {

using namespace testing;

TEST(Names, GivesTheSandboxWhatTheHostsResolverSays) {
    in_house([](House& house) -> Task<> {
        const dns::Reply reply =
            co_await ask_with_resolver(house, "www.test", record(Type::a, {"\xC0\x00\x02\x07", 4}), 1);
        EXPECT_EQ(reply.rcode, Rcode::ok);
        EXPECT_EQ(reply.answers.size(), 1u);
        EXPECT_TRUE(house.log.has("dns.query", "www.test"));
    });
}

TEST(Names, AConnectionIsReportedWithTheNameItWasLookedUpBy) {
    in_house([](House& house) -> Task<> {
        co_await ask_with_resolver(house, "www.test", record(Type::a, {"\x7F\x00\x00\x01", 4}), 1);
        const auto inside = co_await house.connect_out();
        const auto outside = co_await house.accept_in();
        EXPECT_TRUE(house.log.has("connect.allowed", "\"host\":\"www.test\""));
    });
}

TEST(Names, WithholdsPrivateAddresses) {
    in_house([](House& house) -> Task<> {
        const dns::Reply reply =
            co_await ask_with_resolver(house, "evil.test", record(Type::a, "\x0A\x09\x09\x09"), 1);
        EXPECT_EQ(reply.rcode, Rcode::no_such_name);
        EXPECT_TRUE(reply.answers.empty());
        EXPECT_TRUE(house.log.has("dns.denied", "rebind"));
    });
}

TEST(Names, WithholdsPrivateAddressesInGoodCompanyAndTells) {
    in_house([](House& house) -> Task<> {
        const std::string both = record(Type::a, "\x0A\x09\x09\x09") + kSomewhere;
        const dns::Reply reply = co_await ask_with_resolver(house, "evil.test", both, 2);
        EXPECT_EQ(reply.rcode, Rcode::ok);
        EXPECT_EQ(reply.answers.size(), 1u);
        EXPECT_TRUE(house.log.has("dns.denied", "rebind"));
    });
}

TEST(Names, SaysServerFailureWhenNoResolverAnswers) {
    in_house([](House& house) -> Task<> {
        const std::string answer = co_await hear(house, "www.test", Type::a, house.dns_udp);
        EXPECT_EQ(or_throw(dns::parse_reply(answer)).rcode, Rcode::server_failure);
        EXPECT_NE(answer.find(std::string{"\0\x17", 2} + "no usable answer"), std::string::npos)
            << "RFC 8914: 23, network error";
        EXPECT_TRUE(house.log.has("dns.query", "ask the resolver"));
        EXPECT_EQ(answer.find("resolver"), std::string::npos)
            << "what is wrong with it is the operator's to know";
    });
}

TEST(Names, AnswersAgainWithoutAskingAgain) {
    in_house([](House& house) -> Task<> {
        co_await ask_with_resolver(house, "www.test", record(Type::a, {"\xC0\x00\x02\x07", 4}, 100), 1);
        const dns::Reply again = co_await ask(house, "WWW.test", Type::a);
        EXPECT_EQ(again.answers.size(), 1u);
        EXPECT_LE(again.answers.at(0).ttl, 100u);
        EXPECT_EQ(again.answers.at(0).data, (std::string{"\xC0\x00\x02\x07", 4}));
    });
}

TEST(Names, TellsNoSandboxWhatAnotherLookedUp) {  // threats R-10
    in_house([](House& house) -> Task<> {
        co_await ask_with_resolver(house, "www.test", record(Type::a, {"\xC0\x00\x02\x07", 4}), 1);
        core::EgressSockets sockets{listen_tcp(loopback()), udp_socket(), listen_tcp(loopback())};
        const SocketAddress other = local_address(sockets.dns_udp.get());
        house.egress->attach("other", "acme", std::move(sockets), open(1));
        const std::string answer = co_await hear(house, "www.test", Type::a, other);
        EXPECT_EQ(or_throw(dns::parse_reply(answer)).rcode, Rcode::server_failure)
            << "nobody was there to ask";
    });
}

TEST(Names, AnAnswerThatIsRememberedIsJudgedByThePolicyOfNow) {
    in_house([](House& house) -> Task<> {
        co_await ask_with_resolver(house, "www.test", record(Type::a, {"\xC0\x00\x02\x07", 4}), 1);
        house.egress->update(kBox, offline(2));
        EXPECT_EQ((co_await ask(house, "www.test", Type::a)).rcode, Rcode::no_such_name);
    });
}

// Whose names are secret when they say so.
class Discreet final : public http::RequestTransform {
public:
    [[nodiscard]] std::size_t wants_body(const http::OutgoingRequest&) const override { return 0; }
    Task<Result<void>> apply(http::OutgoingRequest&) override { co_return Result<void>{}; }
    [[nodiscard]] std::unique_ptr<http::BodyWatch> watch(const http::OutgoingRequest&) override {
        return nullptr;
    }
    std::unique_ptr<http::AnswerFilter> filter(const http::OutgoingRequest&) override { return nullptr; }
    [[nodiscard]] bool may_look_up(const std::string& name) override { return !name.contains("placeholder"); }
    [[nodiscard]] bool may_record(std::string_view) const override { return true; }
};

TEST(Names, ANameThatMustNotLeaveIsRefusedAndNotWrittenDown) {  // threats E-20
    EgressConfig settings;
    settings.transform = [](const std::string&) { return std::make_unique<Discreet>(); };
    in_house(
        [](House& house) -> Task<> {
            for (const char* name : {"placeholder.evil.test", "a.placeholder.localhost"}) {
                const std::string answer = co_await hear(house, name, Type::a, house.dns_udp);
                EXPECT_EQ(or_throw(dns::parse_reply(answer)).rcode, Rcode::refused) << name;
            }
            EXPECT_TRUE(house.log.has("dns.denied", "secret-placeholder"));
            EXPECT_FALSE(house.log.has("dns.denied", "placeholder.evil"));
        },
        std::move(settings));
}

TEST(Names, TheOperatorsEntriesNeedNoResolver) {
    EgressConfig settings;
    settings.hosts = {{"db.internal", {"10.20.0.5"}}};
    settings.reachable_private = {"10.20.0.0/16"};
    in_house(
        [](House& house) -> Task<> {
            const dns::Reply reply = co_await ask(house, "db.internal", Type::a);
            EXPECT_EQ(reply.answers.size(), 1u);
            EXPECT_EQ(reply.answers.at(0).data, (std::string{"\x0A\x14\x00\x05", 4}));
            EXPECT_EQ((co_await ask(house, "db.internal", Type::txt)).rcode, Rcode::ok);
        },
        std::move(settings));
}

TEST(Names, AnEntryOpensNoPrivateRange) {
    EgressConfig settings;
    settings.hosts = {{"db.internal", {"10.20.0.5"}}};
    in_house(
        [](House& house) -> Task<> {
            EXPECT_EQ((co_await ask(house, "db.internal", Type::a)).rcode, Rcode::no_such_name);
            EXPECT_TRUE(house.log.has("dns.denied", "\"reason\":\"private\""));
        },
        std::move(settings));
}

TEST(Names, ANameStaysWithItsAddressOverARestartOfOyatd) {
    in_house([](House& house) -> Task<> {
        co_await ask_with_resolver(house, "www.test", record(Type::a, {"\x7F\x00\x00\x01", 4}), 1);
        while (house.store.items.empty()) co_await sleep_for(Millis{1});  // not only at an orderly end
        co_await house.egress->close();
        co_await house.start_again();
        house.move_in();
        const auto inside = co_await house.connect_out();
        const auto outside = co_await house.accept_in();
        EXPECT_TRUE(house.log.has("connect.allowed", "\"host\":\"www.test\""));
    });
}

TEST(Names, NothingIsKeptOfASandboxThatHasEnded) {
    in_house([](House& house) -> Task<> {
        co_await ask_with_resolver(house, "www.test", record(Type::a, {"\x7F\x00\x00\x01", 4}), 1);
        while (house.store.items.empty()) co_await sleep_for(Millis{1});
        house.egress->detach(kBox);
        while (!house.store.items.empty()) co_await sleep_for(Millis{1});
    });
}

TEST(Names, NothingIsKeptOfASandboxThatEndedWhileNobodyWasThere) {
    in_house([](House& house) -> Task<> {
        co_await ask_with_resolver(house, "www.test", record(Type::a, {"\x7F\x00\x00\x01", 4}), 1);
        co_await house.egress->close();
        EXPECT_EQ(house.store.items.size(), 1u);
        co_await house.start_again();
        co_await house.egress->forget_the_rest();
        EXPECT_TRUE(house.store.items.empty());
    });
}

TEST(Names, ATunnelIsCutAndTold) {  // threats E-06
    in_house([](House& house) -> Task<> {
        TaskGroup resolver{house.executor};
        resolver.spawn(know_nothing(house));
        int refused = 0;
        for (int i = 0; i < 110; ++i) {
            const std::string name = sha256_hex(std::to_string(i)).substr(0, 40) + ".t.evil.test";
            if ((co_await ask(house, name, Type::txt)).rcode == Rcode::refused) ++refused;
        }
        EXPECT_EQ(refused, 10);
        EXPECT_EQ((co_await ask(house, "www.evil.test", Type::a)).rcode, Rcode::refused);
        EXPECT_EQ((co_await ask(house, "www.good.test", Type::a)).rcode, Rcode::no_such_name);
        EXPECT_EQ(std::ranges::count_if(house.log.lines,
                                        [](const std::string& line) { return line.starts_with("signal."); }),
                  1);
        EXPECT_TRUE(house.log.has("signal.dns_tunnel", "evil.test"));
        EXPECT_TRUE(house.log.has("dns.denied", "dns-tunnel"));
        co_await resolver.close();
    });
}

TEST(Names, EveryQuestionIsOnTheRecord) {
    in_house([](House& house) -> Task<> {
        TaskGroup resolver{house.executor};
        resolver.spawn(know_nothing(house));
        co_await ask(house, "none.test", Type::a);
        co_await ask(house, "www.test", Type::aaaa);
        co_await ask(house, "localhost", Type::a);
        EXPECT_TRUE(
            house.log.has("dns.query", "\"name\":\"none.test\",\"qtype\":\"A\",\"answer\":\"no-such-name\""));
        EXPECT_TRUE(house.log.has("dns.query", "\"qtype\":\"AAAA\",\"answer\":\"no-data\""));
        EXPECT_TRUE(house.log.has("dns.query", "\"answer\":\"own\""));
        AsyncFd socket{house.executor, udp_socket()};
        ::sendto(socket.get(), "rubbish", 7, 0, house.dns_udp.data(), house.dns_udp.size());
        while (!house.log.has("dns.denied", "malformed")) co_await sleep_for(Millis{1});
        co_await resolver.close();
    });
}

TEST(Names, AnswersAtOnceWithoutInternet) {
    in_house([](House& house) -> Task<> {
        house.egress->update(kBox, offline(2));
        EXPECT_EQ((co_await ask(house, "www.test", Type::a)).rcode, Rcode::no_such_name);
        EXPECT_TRUE(house.log.has("dns.denied", "offline"));
        const dns::Reply own = co_await ask(house, kBox, Type::a);
        EXPECT_EQ(own.answers.size(), 1u);
    });
}

TEST(Names, KnowsNoIpv6AndRefusesOddTypes) {
    in_house([](House& house) -> Task<> {
        const dns::Reply reply = co_await ask(house, "www.test", Type::aaaa);
        EXPECT_EQ(reply.rcode, Rcode::ok);
        EXPECT_TRUE(reply.answers.empty());
        EXPECT_EQ((co_await ask(house, "www.test", Type::any)).rcode, Rcode::refused);
    });
}

TEST(Names, SilentNamesOfOneSandboxLeaveRoomForOthers) {
    EgressConfig settings;
    settings.upstreams.max_open = 20;
    in_house(
        [](House& house) -> Task<> {
            AsyncFd socket{house.executor, udp_socket()};
            for (int i = 0; i < 40; ++i) {
                const std::string question = ask_for("silent" + std::to_string(i) + ".test", Type::a);
                ::sendto(socket.get(), question.data(), question.size(), 0, house.dns_udp.data(),
                         house.dns_udp.size());
            }
            while (!house.log.has("limit.hit", "names_under_way")) co_await sleep_for(Millis{1});
            core::EgressSockets sockets{listen_tcp(loopback()), udp_socket(), listen_tcp(loopback())};
            const SocketAddress other = local_address(sockets.dns_udp.get());
            house.egress->attach("other", "acme", std::move(sockets), open(1));
            TaskGroup resolver{house.executor};
            resolver.spawn(answer_for(house, "www.test"));
            const std::string answer = co_await hear(house, "www.test", Type::a, other);
            EXPECT_EQ(or_throw(dns::parse_reply(answer)).rcode, Rcode::ok);
            co_await resolver.close();
        },
        std::move(settings));
}

}  // namespace
}  // namespace oyat::egress
