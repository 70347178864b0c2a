#include "egress/house_for_tests.hpp"
#include "http/loopback.hpp"

namespace oyat::egress {
namespace {

using namespace testing;

Task<std::string> read_until_end(Stream& stream) {
    std::string all;
    std::array<char, 4096> buffer;
    while (const std::size_t n = co_await with_timeout(kSoon, "read", stream.read_some(buffer))) {
        all.append(buffer.data(), n);
    }
    co_return all;
}

Task<std::string> read_until(Stream& stream, std::string end) {
    return with_timeout(kSoon, "read", http::testing::read_until(stream, std::move(end)));
}

Task<bool> is_reset(Stream& stream) {
    std::array<char, 16> buffer;
    try {
        co_await with_timeout(kSoon, "read", stream.read_some(buffer));
    } catch (const Error& error) {
        co_return error.code() != Errc::deadline;
    }
    co_return false;
}

// The reset may come before connect() has even been seen to succeed.
Task<bool> is_refused(House& house) {
    try {
        const auto inside = co_await house.connect_out();
        co_return co_await is_reset(*inside);
    } catch (const Error& error) {
        co_return error.code() == Errc::unavailable;
    }
}

TEST(Egress, CarriesBytesBothWaysAndKeepsHalfClose) {
    in_house([](House& house) -> Task<> {
        const auto inside = co_await house.connect_out();
        const auto outside = co_await house.accept_in();
        co_await inside->write_all("question");
        inside->shutdown_write();
        EXPECT_EQ(co_await read_until_end(*outside), "question");
        co_await outside->write_all("answer after the end of the question");
        outside->shutdown_write();
        EXPECT_EQ(co_await read_until_end(*inside), "answer after the end of the question");
        while (!house.log.has("connect.closed", "\"up\":8")) co_await sleep_for(Millis{1});
        EXPECT_TRUE(house.log.has("connect.allowed", "open_always_deny"));
        EXPECT_TRUE(house.log.has("connect.closed", "\"down\":36"));
    });
}

// The keeper shuts the listeners of a box that ends down, often before we hear of the end.
TEST(Egress, TakesAListenerThatWasRevokedForItsEndAndNotForAFailure) {
    ::testing::internal::CaptureStderr();
    in_house([](House& house) -> Task<> {
        core::EgressSockets sockets{listen_tcp(loopback()), udp_socket(), listen_tcp(loopback())};
        const Fd tcp{::dup(sockets.tcp.get())};
        const Fd dns_tcp{::dup(sockets.dns_tcp.get())};
        house.egress->attach("ibeing0ended000000000", "acme", std::move(sockets), open(1));
        for (int turn = 0; turn < 10; ++turn) co_await yield_now();
        ::shutdown(tcp.get(), SHUT_RDWR);
        ::shutdown(dns_tcp.get(), SHUT_RDWR);
        co_await sleep_for(Millis{5});
    });
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(Egress, HoldsTheSenderBackWhileTheReceiverDoesNotRead) {
    in_house([](House& house) -> Task<> {
        Fd inside = co_await connect(house.proxy, kSoon);
        const auto outside = co_await house.accept_in();
        const std::string chunk(1 << 16, 'x');
        std::size_t sent = 0;
        for (int idle_rounds = 0; idle_rounds < 50;) {
            const ssize_t n = ::send(inside.get(), chunk.data(), chunk.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
            idle_rounds = n > 0 ? 0 : idle_rounds + 1;
            if (n > 0) sent += static_cast<std::size_t>(n);
            if (n < 0) co_await sleep_for(Millis{2});
        }
        EXPECT_LT(sent, std::size_t{64} << 20);
        ::shutdown(inside.get(), SHUT_WR);
        EXPECT_EQ((co_await read_until_end(*outside)).size(), sent);
    });
}

TEST(Egress, RefusalIsAResetAtOnce) {
    in_house([](House& house) -> Task<> {
        house.going_to = or_throw(SocketAddress::ip("169.254.169.254", 80));
        EXPECT_TRUE(co_await is_refused(house));
        EXPECT_TRUE(house.log.has("connect.denied", "always-deny:link-local"));
    });
}

TEST(Egress, TheListenerItselfIsNoDestination) {  // threats E-09
    in_house([](House& house) -> Task<> {
        house.going_to = house.proxy;
        EXPECT_TRUE(co_await is_refused(house));
        house.going_to = std::nullopt;
        EXPECT_TRUE(co_await is_refused(house));
        EXPECT_TRUE(house.log.has("connect.denied", "own-listener"));
    });
}

TEST(Egress, ResetsWhenNobodyListensOutThere) {
    in_house([](House& house) -> Task<> {
        house.acceptor.close();
        house.service.reset();
        EXPECT_TRUE(co_await is_refused(house));
        EXPECT_TRUE(house.log.has("connect.closed", "refused"));
    });
}

TEST(Egress, ConnectsNowhereWithoutInternet) {
    in_house([](House& house) -> Task<> {
        house.egress->update(kBox, offline(2));
        EXPECT_TRUE(co_await is_refused(house));
        EXPECT_TRUE(house.log.has("connect.denied", "offline"));
    });
}

TEST(Egress, ANewPolicyCutsWhatItRefuses) {
    in_house([](House& house) -> Task<> {
        const auto inside = co_await house.connect_out();
        const auto outside = co_await house.accept_in();
        house.egress->update(kBox, open(2));
        co_await inside->write_all("still");
        std::array<char, 16> buffer;
        EXPECT_EQ(co_await outside->read_some(buffer), 5u);
        house.egress->update(kBox, offline(3));
        EXPECT_TRUE(co_await is_reset(*inside));
        EXPECT_TRUE(co_await is_reset(*outside));
        EXPECT_TRUE(house.log.has("connect.closed", "policy"));
    });
}

TEST(Egress, WhoHasFinishedSpeakingStillGetsAllOfTheAnswer) {
    in_house([](House& house) -> Task<> {
        const std::string answer(1024 * 1024, 'a');
        const auto inside = co_await house.connect_out();
        const auto outside = co_await house.accept_in();
        inside->shutdown_write();
        co_await outside->write_all(answer);
        outside->shutdown_write();
        while (!house.log.has("connect.closed", "closed")) co_await yield_now();
        EXPECT_EQ((co_await read_until_end(*inside)).size(), answer.size());
    });
}

TEST(Egress, DetachCutsEverythingAndReportsItFirst) {
    in_house([](House& house) -> Task<> {
        const auto inside = co_await house.connect_out();
        const auto outside = co_await house.accept_in();
        house.egress->detach(kBox);
        EXPECT_TRUE(house.log.has("connect.closed", "sandbox ended"));
        EXPECT_TRUE(co_await is_reset(*inside));
        EXPECT_TRUE(co_await is_reset(*outside));
        bool refused = false;
        try {
            co_await connect(house.proxy, kSoon);
        } catch (const Error&) {
            refused = true;
        }
        EXPECT_TRUE(refused);
    });
}

TEST(Egress, WhatCannotBeRecordedDoesNotHappen) {
    in_house([](House& house) -> Task<> {
        house.log.fail = true;
        EXPECT_TRUE(co_await is_refused(house));
    });
}

TEST(Egress, KeepsEachSandboxBelowItsNumberOfConnections) {  // threats X-06
    EgressConfig settings;
    settings.limits.connections = 2;
    in_house(
        [](House& house) -> Task<> {
            const auto first = co_await house.connect_out();
            const auto first_out = co_await house.accept_in();
            const auto second = co_await house.connect_out();
            const auto second_out = co_await house.accept_in();
            EXPECT_TRUE(co_await is_refused(house));
            EXPECT_TRUE(house.log.has("limit.hit", "connections"));
        },
        std::move(settings));
}

TEST(Egress, SlowsDownWhoConnectsTooOften) {
    EgressConfig settings;
    settings.limits.connections_per_second = 0.001;
    settings.limits.connections_burst = 3;
    in_house(
        [](House& house) -> Task<> {
            for (int i = 0; i < 3; ++i) {
                const auto inside = co_await house.connect_out();
                const auto outside = co_await house.accept_in();
            }
            EXPECT_TRUE(co_await is_refused(house));
        },
        std::move(settings));
}

TEST(Egress, HoldsASandboxToItsBandwidth) {
    EgressConfig settings;
    settings.limits.bytes_per_second = 100'000;
    in_house(
        [](House& house) -> Task<> {
            const auto inside = co_await house.connect_out();
            const auto outside = co_await house.accept_in();
            const MonoTime began = house.clock.mono();
            co_await inside->write_all(std::string(130'000, 'x'));
            inside->shutdown_write();
            EXPECT_EQ((co_await read_until_end(*outside)).size(), 130'000u);
            EXPECT_GE(house.clock.mono() - began, Millis{250});
        },
        std::move(settings));
}

core::PolicyPtr only_path(std::string_view path, std::uint64_t generation) {
    policy::Document document;
    policy::Rule rule{.id = "path", .action = policy::Action::allow};
    rule.paths.push_back(or_throw(policy::PathPattern::parse(path)));
    document.rules.push_back(std::move(rule));
    return std::make_shared<policy::Policy>(policy::Policy{
        .generation = generation,
        .layers = {{policy::Layer::tenant, std::make_shared<policy::Document>(std::move(document))}}});
}

TEST(Egress, ReadsHttpWhereARuleAsksForPaths) {
    in_house([](House& house) -> Task<> {
        house.egress->update(kBox, only_path("/allowed/**", 2));
        const auto inside = co_await house.connect_out();
        const std::string host = house.going_to->to_string();
        co_await inside->write_all("GET /other HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
        EXPECT_TRUE((co_await read_until(*inside, "report\n")).starts_with("HTTP/1.1 403"));
        co_await inside->write_all("GET /allowed/x HTTP/1.1\r\nHost: " + host + "\r\nX-Own: y\r\n\r\n");
        const auto outside = co_await house.accept_in();
        EXPECT_EQ(co_await read_until(*outside, "\r\n\r\n"),
                  "GET /allowed/x HTTP/1.1\r\nHost: " + host + "\r\nX-Own: y\r\n\r\n");
        co_await outside->write_all("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhalf of it");
        (void)co_await read_until(*inside, "half of it");
        // In force for what is under way, too.
        EXPECT_EQ(house.egress->update(kBox, only_path("/else", 3)), 1U);
        EXPECT_TRUE(co_await is_reset(*inside));
        EXPECT_TRUE(house.log.has("connect.closed", "\"reason\":\"policy\""));
    });
}

// Says whose sandbox it is asked about, and refuses one path.
class Marking final : public http::RequestTransform {
public:
    explicit Marking(std::string sandbox) : sandbox_{std::move(sandbox)} {}
    [[nodiscard]] std::size_t wants_body(const http::OutgoingRequest&) const override { return 0; }
    Task<Result<void>> apply(http::OutgoingRequest& request) override {
        if (request.target == "/leak") co_return refuse(Errc::denied, "not with that placeholder");
        request.fields.set("X-Sandbox", sandbox_);
        request.carries = {"orders"};
        co_return Result<void>{};
    }
    [[nodiscard]] std::unique_ptr<http::BodyWatch> watch(const http::OutgoingRequest&) override {
        return nullptr;
    }
    [[nodiscard]] bool may_look_up(const std::string&) override { return true; }
    [[nodiscard]] bool may_record(std::string_view) const override { return true; }
    [[nodiscard]] std::unique_ptr<http::AnswerFilter> filter(const http::OutgoingRequest&) override {
        return nullptr;
    }

private:
    std::string sandbox_;
};

TEST(Egress, GivesEachRequestThatIsReadToTheSandboxsOwnTransform) {
    EgressConfig settings;
    settings.transform = [](const std::string& sandbox) { return std::make_unique<Marking>(sandbox); };
    in_house(
        [](House& house) -> Task<> {
            house.egress->update(kBox, only_path("/**", 2));
            const auto inside = co_await house.connect_out();
            const std::string host = house.going_to->to_string();
            co_await inside->write_all("GET /leak HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
            EXPECT_TRUE((co_await read_until(*inside, "placeholder\n")).starts_with("HTTP/1.1 403"));
            co_await inside->write_all("GET /x HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
            const auto outside = co_await house.accept_in();
            EXPECT_NE((co_await read_until(*outside, "\r\n\r\n")).find("X-Sandbox: " + kBox),
                      std::string::npos);
        },
        std::move(settings));
}

TEST(Egress, CutsWhatHasCarriedASecretThatIsRevoked) {
    EgressConfig settings;
    settings.transform = [](const std::string& sandbox) { return std::make_unique<Marking>(sandbox); };
    in_house(
        [](House& house) -> Task<> {
            house.egress->update(kBox, only_path("/**", 2));
            const auto inside = co_await house.connect_out();
            co_await inside->write_all("GET /x HTTP/1.1\r\nHost: " + house.going_to->to_string() +
                                       "\r\n\r\n");
            const auto outside = co_await house.accept_in();
            (void)co_await read_until(*outside, "\r\n\r\n");
            EXPECT_EQ(house.egress->revoked("acme", "another"), 0U);
            EXPECT_EQ(house.egress->revoked("somebody", "orders"), 0U);
            EXPECT_EQ(house.egress->revoked("acme", "orders"), 1U);
            EXPECT_TRUE(co_await is_reset(*inside));
            EXPECT_TRUE(house.log.has("connect.closed", "a secret that it carried was revoked"));
        },
        std::move(settings));
}

TEST(Egress, EndsConnectionsOnWhichNothingMoves) {
    EgressConfig settings;
    settings.idle_limit = Millis{30};
    in_house(
        [](House& house) -> Task<> {
            const auto inside = co_await house.connect_out();
            const auto outside = co_await house.accept_in();
            EXPECT_TRUE(co_await is_reset(*inside));
            while (!house.log.has("connect.closed", "idle")) co_await sleep_for(Millis{1});
        },
        std::move(settings));
}

TEST(Egress, RefusesListsOfTheOperatorThatItWouldNotUnderstand) {
    Loop loop;
    SystemClock clock;
    NoLog log;
    core::EventBus bus{clock, log};
    core::FakeStore store;
    EXPECT_THROW((void)make_egress(loop.executor(), bus, clock, store, {.reachable_private = {"10.1.2.3/8"}}),
                 Error);
}

}  // namespace
}  // namespace oyat::egress
