#include <gtest/gtest.h>

#include "api/native/door_for_tests.hpp"

// Who may pull the operator's brakes, and what an order must say.
namespace oyat::native {
namespace {

using Brake = core::BrakeOrder::Brake;
using http::testing::has;
using testing::at_the_door;
using testing::Door;
using testing::kAdmin;

TEST(BrakeCalls, AreTheOperatorsAndNoOtherTenants) {
    at_the_door([](Door& door) -> Task<> {
        const std::string key = (co_await door.house.keys.create("a", "acme", kAdmin)).key;
        for (const char* order : {"hold", "release", "egress-off", "egress-on", "stop"}) {
            const std::string answer =
                co_await door.send("POST", std::string{"/v1/brakes/"} + order, key, R"({"all":true})");
            EXPECT_TRUE(answer.starts_with("HTTP/1.1 403")) << order << answer;
        }
        EXPECT_TRUE((co_await door.send("GET", "/v1/brakes", key)).starts_with("HTTP/1.1 403"));
        EXPECT_TRUE(door.house.brakes.orders.empty());
    });
}

TEST(BrakeCalls, SayWhichSandboxesInExactlyOneWay) {
    at_the_door([](Door& door) -> Task<> {
        const std::string key = (co_await door.house.keys.create("a", "default", kAdmin)).key;
        for (const char* body :
             {"{}", R"({"all":false})", R"({"all":true,"label":"a=b"})", R"({"sandboxes":[]})",
              R"({"label":"a"})", R"({"label":"=b"})", R"({"all":true,"every":true})"}) {
            const std::string answer = co_await door.send("POST", "/v1/brakes/hold", key, body);
            EXPECT_TRUE(answer.starts_with("HTTP/1.1 400")) << body << answer;
        }
        const std::string path =
            co_await door.send("POST", "/v1/brakes/hold", key, R"({"sandboxes":["../x"]})");
        EXPECT_TRUE(path.starts_with("HTTP/1.1 404")) << path;
        EXPECT_TRUE(door.house.brakes.orders.empty());
        co_await door.send("POST", "/v1/brakes/hold", key, R"({"all":true})");
        EXPECT_TRUE(door.house.brakes.orders.size() == 1 && door.house.brakes.orders[0].all);
    });
}

TEST(BrakeCalls, AStopHoldsAndCutsAndMakesTheKeyUseless) {
    at_the_door([](Door& door) -> Task<> {
        const std::string key = (co_await door.house.keys.create("a", "default", kAdmin)).key;
        const auto suspect = co_await door.house.keys.create("s", "acme", 1);
        const std::string answer =
            co_await door.send("POST", "/v1/brakes/stop", key, R"({"key":")" + suspect.record.id + R"("})");
        EXPECT_TRUE(answer.starts_with("HTTP/1.1 200")) << answer;
        EXPECT_EQ(door.house.brakes.stopped_key, suspect.record.id);
        EXPECT_FALSE(door.house.keys.authenticate(suspect.key, "192.0.2.1"));
        co_await door.send("POST", "/v1/brakes/stop", key, R"({"all":true})");
        EXPECT_TRUE(door.house.brakes.orders.size() == 2 &&
                    door.house.brakes.orders[0].brake == Brake::hold &&
                    door.house.brakes.orders[1].brake == Brake::cut_egress);
    });
}

TEST(BrakeCalls, AKeyDoesNotStopItself) {
    at_the_door([](Door& door) -> Task<> {
        const auto own = co_await door.house.keys.create("a", "default", kAdmin);
        const std::string answer =
            co_await door.send("POST", "/v1/brakes/stop", own.key, R"({"key":")" + own.record.id + R"("})");
        EXPECT_TRUE(answer.starts_with("HTTP/1.1 400")) << answer;
        EXPECT_TRUE(door.house.keys.authenticate(own.key, "192.0.2.1"));
    });
}

TEST(BrakeCalls, AKeyThatIsTooFastPullsThemAllTheSame) {
    at_the_door([](Door& door) -> Task<> {
        const std::string key = (co_await door.house.keys.create("a", "default", kAdmin)).key;
        const std::string id = door.house.keys.list("default").at(0).id;
        while (door.house.keys.admit(id)) continue;
        const std::string fast = co_await door.send("GET", "/v1/sandboxes", key);
        EXPECT_TRUE(fast.starts_with("HTTP/1.1 429") && has(fast, "Retry-After: 1\r\n")) << fast;
        EXPECT_TRUE((co_await door.send("GET", "/v1/brakes", key)).starts_with("HTTP/1.1 200"));
    });
}

}  // namespace
}  // namespace oyat::native
