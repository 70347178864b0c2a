#include "api/e2b/create_once.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "io/gate.hpp"
#include "io/loop.hpp"
#include "io/race.hpp"
#include "io/task_group.hpp"

namespace oyat::e2b {
namespace {

class TestClock final : public Clock {
public:
    [[nodiscard]] WallTime wall() const override { return {}; }
    [[nodiscard]] MonoTime mono() const override { return now; }
    MonoTime now{};
};

class Once : public testing::Test {
protected:
    std::string ask(std::string key, std::string tenant = "a") {
        std::optional<std::string> id;
        loop.run(store_in(id, once.id_for(std::move(tenant), std::move(key), [this] { return make(); })));
        return *id;
    }
    Task<std::string> make() {
        co_await gate.pass();
        if (fails) throw Error{Errc::exhausted, "full"};
        co_return "i" + std::to_string(++made);
    }

    Loop loop;
    TestClock clock;
    CreateOnce once{clock};
    Gate gate;
    bool fails = false;
    int made = 0;

    Once() { gate.open(); }
};

TEST_F(Once, TheSameKeyIsTheSameSandbox) {
    EXPECT_EQ(ask("k"), "i1");
    EXPECT_EQ(ask("k"), "i1");
    EXPECT_EQ(ask("other"), "i2");
    EXPECT_EQ(ask("k", "b"), "i3");  // of another tenant
}

TEST_F(Once, AFailedCreateLeavesNothing) {
    fails = true;
    EXPECT_THROW(ask("k"), Error);
    fails = false;
    EXPECT_EQ(ask("k"), "i1");
}

TEST_F(Once, ASecondCallerWaitsForTheFirst) {
    gate.shut();
    std::optional<std::string> first, second;
    TaskGroup group{loop.executor()};
    group.spawn(store_in(first, once.id_for("a", "k", [this] { return make(); })));
    group.spawn(store_in(second, once.id_for("a", "k", [this] { return make(); })));
    loop.run([](Gate& g, TaskGroup& all) -> Task<> {
        g.open();
        co_await all.wait_idle();
    }(gate, group));
    EXPECT_EQ(first, "i1");
    EXPECT_EQ(second, "i1");
}

TEST_F(Once, AKeyIsForgottenAfterADay) {
    EXPECT_EQ(ask("k"), "i1");
    clock.now += std::chrono::hours{25};
    EXPECT_EQ(ask("k"), "i2");
}

TEST(IdempotencyKey, IsShortAndPlain) {
    EXPECT_TRUE(is_idempotency_key("0a-b"));
    for (const char* text : {"", "A", "a b", "a/b", "\xC3\xA9"})
        EXPECT_FALSE(is_idempotency_key(text)) << text;
    EXPECT_FALSE(is_idempotency_key(std::string(256, 'a')));
}

}  // namespace
}  // namespace oyat::e2b
