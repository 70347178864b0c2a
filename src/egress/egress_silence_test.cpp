#include "egress/house_for_tests.hpp"

// Programs that wait for the server to begin, as those of SSH, SQL and mail do, and programs that only
// pretend to (threats E-04).
namespace oyat::egress {
namespace {

using namespace testing;

// HTTP is what this policy wants to know of, so first bytes are looked at; what is silent may go.
core::PolicyPtr no_http() {
    policy::Document document;
    document.rules.push_back(
        {.id = "no-http", .action = policy::Action::deny, .protocol = policy::Protocol::http});
    document.fallback = policy::Action::allow;
    return std::make_shared<policy::Policy>(policy::Policy{
        .generation = 2,
        .layers = {{policy::Layer::sandbox, std::make_shared<policy::Document>(std::move(document))}}});
}

Task<std::string> read_some(Stream& stream) {
    std::array<char, 64> buffer;
    const std::size_t n = co_await with_timeout(kSoon, "read", stream.read_some(buffer));
    co_return std::string{buffer.data(), n};
}

// What the other end got before the connection ended.
Task<std::string> read_to_the_end(Stream& stream) {
    std::string all;
    try {
        for (std::string some; !(some = co_await read_some(stream)).empty();) all += some;
    } catch (const Error& error) {
        EXPECT_NE(error.code(), Errc::deadline);
    }
    co_return all;
}

TEST(EgressSilence, AServerThatBeginsIsHeardAndAnswered) {
    in_house([](House& house) -> Task<> {
        house.egress->update(kBox, no_http());
        const auto inside = co_await house.connect_out();
        const auto outside = co_await house.accept_in();
        co_await outside->write_all("220 hello");
        EXPECT_EQ(co_await read_some(*inside), "220 hello");
        co_await inside->write_all("HELO");
        EXPECT_EQ(co_await read_some(*outside), "HELO");
    });
}

TEST(EgressSilence, AProgramThatBeginsAfterAllIsHeardOnlyIfItsWordsPass) {
    in_house([](House& house) -> Task<> {
        house.egress->update(kBox, no_http());
        const auto pretender = co_await house.connect_out();
        const auto outside = co_await house.accept_in();
        co_await pretender->write_all("\r\nGET / HTTP/1.1\r\n\r\n");
        EXPECT_EQ(co_await read_to_the_end(*pretender), "");
        EXPECT_EQ(co_await read_to_the_end(*outside), "");
        EXPECT_TRUE(house.log.has("connect.denied", "blank-start"));

        const auto slow = co_await house.connect_out();
        const auto first = co_await house.accept_in();
        co_await slow->write_all("STARTUP\n");
        const auto second = co_await house.accept_in();
        EXPECT_EQ(co_await read_some(*second), "STARTUP\n");
        EXPECT_EQ(co_await read_to_the_end(*first), "");
    });
}

TEST(EgressSilence, AChangeOfPolicyCutsThoseWhoStillWait) {
    in_house([](House& house) -> Task<> {
        house.egress->update(kBox, no_http());
        const auto inside = co_await house.connect_out();
        const auto outside = co_await house.accept_in();
        EXPECT_EQ(house.egress->update(kBox, offline(3)), 1U);
        EXPECT_EQ(co_await read_to_the_end(*inside), "");
        EXPECT_EQ(co_await read_to_the_end(*outside), "");
    });
}

}  // namespace
}  // namespace oyat::egress
