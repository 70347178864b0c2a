#include "egress/explicit_proxy.hpp"
#include "egress/house_for_tests.hpp"

// What a program can do to the proxy inside before it has said where it wants to go.
namespace oyat::egress {
namespace {

using namespace testing;

SocketAddress proxy_at(std::uint16_t port) {
    return IpAddress::v4(kProxyAddress).with_port(port);
}

Task<std::string> answer_to(House& house, std::string_view said) {
    const auto inside = co_await house.connect_out();
    co_await inside->write_all(said);
    std::array<char, 256> buffer;
    const std::size_t n = co_await with_timeout(kSoon, "read", inside->read_some(buffer));
    co_return std::string{buffer.data(), n};
}

TEST(EgressProxy, WhoSaysNothingToItCountsAsAConnection) {  // threats X-06
    EgressConfig settings;
    settings.limits.connections = 2;
    in_house(
        [](House& house) -> Task<> {
            house.going_to = proxy_at(kHttpProxyPort);
            const auto first = co_await house.connect_out();
            const auto second = co_await house.connect_out();
            for (int turn = 0; !house.log.has("limit.hit", "connections") && turn < 100; ++turn) {
                try {
                    const auto third = co_await house.connect_out();
                } catch (const Error&) {
                    // Reset before it was seen to be open.
                }
                co_await sleep_for(Millis{5});
            }
            EXPECT_TRUE(house.log.has("limit.hit", "connections"));
        },
        std::move(settings));
}

TEST(EgressProxy, ARefusalIsOnTheRecordWithItsName) {
    in_house([](House& house) -> Task<> {
        house.going_to = proxy_at(kHttpProxyPort);
        house.egress->update(kBox, offline(2));
        const std::string answer = co_await answer_to(house, "CONNECT b.test:443 HTTP/1.1\r\n\r\n");
        EXPECT_TRUE(answer.starts_with("HTTP/1.1 403 ")) << answer;
        EXPECT_TRUE(house.log.has("dns.denied", "b.test"));
        co_await answer_to(house, "CONNECT b.test%00.a.test:443 HTTP/1.1\r\n\r\n");
        EXPECT_TRUE(house.log.has("connect.denied", "no-host-name"));
    });
}

}  // namespace
}  // namespace oyat::egress
