#include <gtest/gtest.h>

#include "core/event.hpp"
#include "io/loop.hpp"

namespace oyat::core {
namespace {

class Lines final : public AuditLog {
public:
    void append(const Event& event) override {
        if (full) throw Error{Errc::unavailable, Fault::oyat_operator, "disk full"};
        types.push_back(event.type);
        bytes = event.fields.contains("text") ? event.fields.at("text").as_string().size() : 0;
    }
    bool full = false;
    std::vector<std::string> types;
    std::size_t bytes = 0;
};

Event event_of(std::string type, std::string sandbox = "", std::string tenant = "default") {
    return {.type = std::move(type), .sandbox = std::move(sandbox), .tenant = std::move(tenant)};
}

TEST(EventBus, GivesEachEventItsOwnIdAndShowsItToListeners) {
    SystemClock clock;
    Lines lines;
    EventBus bus{clock, lines};
    std::vector<std::string> heard;
    bus.listen([&](const Event& event) { heard.push_back(event.id); });
    const std::string first = bus.emit(event_of("sandbox.created"));
    const std::string second = bus.emit(event_of("sandbox.ended"));
    EXPECT_NE(first, second);
    EXPECT_EQ(heard, (std::vector{first, second}));
}

TEST(EventBus, ShowsNothingThatTheRecordRefused) {
    SystemClock clock;
    Lines lines;
    EventBus bus{clock, lines};
    lines.full = true;
    EXPECT_THROW(bus.emit(event_of("command.requested")), Error);
    EXPECT_TRUE(bus.recent({}, 10).empty());
}

TEST(EventBus, RecentFiltersAndKeepsTheOrder) {
    SystemClock clock;
    Lines lines;
    EventBus bus{clock, lines};
    for (const char* type : {"command.started", "file.read", "command.exited"}) bus.emit(event_of(type, "a"));
    bus.emit(event_of("command.started", "b", "other"));
    const auto found = bus.recent({.tenant = "default", .sandbox = "a", .type_prefix = "command."}, 10);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0]->type, "command.started");
    EXPECT_EQ(found[1]->type, "command.exited");
    EXPECT_EQ(bus.recent({}, 1).front()->sandbox, "b");
}

TEST(EventBus, WritesWholeOutputToTheRecordButKeepsLittleOfItInMemory) {
    SystemClock clock;
    Lines lines;
    EventBus bus{clock, lines};
    Event event = event_of("command.exited");
    event.fields["text"] = std::string(2u << 20, 'x');
    bus.emit(std::move(event));
    EXPECT_EQ(lines.bytes, 2u << 20);
    EXPECT_LE(bus.recent({}, 1).front()->fields.at("text").as_string().size(), 16u << 10);
}

TEST(EventBus, ForgetsTheOldestBeyondItsBounds) {
    SystemClock clock;
    Lines lines;
    EventBus bus{clock, lines};
    for (int i = 0; i < 10'050; ++i) bus.emit(event_of("dns.query"));
    EXPECT_EQ(bus.recent({}, 20'000).size(), 10'000u);
    for (int i = 0; i < 3'000; ++i) {
        Event big = event_of("command.exited");
        big.fields["text"] = std::string(16u << 10, 'x');
        bus.emit(std::move(big));
    }
    EXPECT_LE(bus.recent({}, 20'000).size(), 1'024u);
}

Task<> follow_story(Executor executor, EventBus& bus) {
    auto follower = bus.follow(executor, {.tenant = "", .sandbox = "a", .type_prefix = ""});
    bus.emit(event_of("one", "a"));
    bus.emit(event_of("not shown", "b"));
    bus.emit(event_of("two", "a"));
    EXPECT_EQ((co_await follower->next())->type, "one");
    EXPECT_EQ((co_await follower->next())->type, "two");
    bus.close();
    EXPECT_EQ(co_await follower->next(), nullptr);
}

TEST(EventFollower, SeesWhatMatchesInOrderAndTheEndOfTheBus) {
    SystemClock clock;
    Lines lines;
    EventBus bus{clock, lines};
    Loop loop;
    loop.run(follow_story(loop.executor(), bus));
}

Task<> slow_follower(Executor executor, EventBus& bus) {
    auto follower = bus.follow(executor, {});
    for (int i = 0; i < 2'010; ++i) bus.emit(event_of("n" + std::to_string(i)));
    bus.close();
    EXPECT_EQ((co_await follower->next())->type, "n10");
    EXPECT_EQ(follower->lost(), 10u);
}

TEST(EventFollower, LosesTheOldestWhenItIsTooSlowAndCountsThem) {
    SystemClock clock;
    Lines lines;
    EventBus bus{clock, lines};
    Loop loop;
    loop.run(slow_follower(loop.executor(), bus));
}

}  // namespace
}  // namespace oyat::core
