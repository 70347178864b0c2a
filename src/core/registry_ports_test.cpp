#include "core/test_house.hpp"
#include "core/visit_book.hpp"

namespace oyat::core {
namespace {

using namespace std::chrono_literals;

Task<> exposure_story(House& house) {
    CreateRequest request;
    request.usual_reach = Reach::token;
    request.host_mask = "app:${PORT}";
    const std::string id = (co_await house.create(request))->record().id;
    co_await house.sandboxes->expose(id, 3000, Reach::closed, House::somebody());
    EXPECT_EQ(house.log.last("ingress.opened")->fields.at("who").as_string(), "closed");
    const std::string token = house.sandboxes->find(id, "default")->record().exposure.token;
    EXPECT_FALSE(token.empty());

    co_await house.restart();
    const Exposure& after = house.sandboxes->find(id, "default")->record().exposure;
    EXPECT_EQ(after.of(3000), Reach::closed);
    EXPECT_EQ(after.of(3001), Reach::token);
    EXPECT_EQ(after.token, token);
    EXPECT_EQ(after.masked_host(3001), "app:3001");
}
TEST(Ports, AreOpenToWhomTheyWereAlsoAfterARestart) {
    in_house(exposure_story);
}

Task<> many_ports(House& house) {
    const std::string id = (co_await house.create())->record().id;
    const auto expose = [&](std::size_t port) {
        return house.sandboxes->expose(id, static_cast<std::uint16_t>(port), Reach::closed,
                                       House::somebody());
    };
    for (std::size_t port = 1; port <= Exposure::kMostPorts; ++port) co_await expose(port);
    co_await expose(1);
    EXPECT_EQ((co_await error_of(expose(Exposure::kMostPorts + 1))).code(), Errc::exhausted);
    EXPECT_EQ(
        (co_await error_of(house.sandboxes->expose(id, 1, Reach::anyone, House::somebody("other")))).code(),
        Errc::not_found);
}
TEST(Ports, ARecordDoesNotGrowWithoutEnd) {
    in_house(many_ports);
}

Task<> visitors(House& house) {
    const auto sandbox = co_await house.create();
    VisitBook book{*house.bus, house.clock};
    const auto note = [&](std::string peer, std::string by) {
        book.note(sandbox->record(),
                  {.port = 80, .peer = std::move(peer), .by = std::move(by), .reason = "no"});
    };
    for (int i = 0; i < 3; ++i) {
        note("192.0.2.1", "anyone");
        note("192.0.2.2", "anyone");
        note("192.0.2.2", "");
    }
    EXPECT_EQ(house.log.count("ingress.visit"), 2u);
    EXPECT_EQ(house.log.count("ingress.denied"), 1u);
    EXPECT_EQ(house.log.last("ingress.denied")->fault, Fault::policy);
    house.clock.jump_wall(24h);
    note("192.0.2.1", "anyone");
    EXPECT_EQ(house.log.count("ingress.visit"), 3u);
    house.log.refuses = true;
    EXPECT_THROW(note("192.0.2.9", "anyone"), Error);
    house.log.refuses = false;
    note("192.0.2.9", "anyone");
    EXPECT_EQ(house.log.count("ingress.visit"), 4u) << "what was not written is not taken for written";
}
TEST(Ports, TheFirstVisitOfEachVisitorAndDayIsOnTheRecord) {
    in_house(visitors);
}

}  // namespace
}  // namespace oyat::core
