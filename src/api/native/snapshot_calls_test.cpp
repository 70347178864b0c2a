#include <gtest/gtest.h>

#include "api/native/door_for_tests.hpp"

// What may be asked about copies of sandboxes.
namespace oyat::native {
namespace {

using http::testing::has;
using testing::at_the_door;
using testing::Door;
using testing::kAdmin;

constexpr const char* kSandbox = "/v1/sandboxes/igone0000000000000000";

TEST(SnapshotCalls, AreShownWithoutWhatBelongsToTheServer) {
    at_the_door([](Door& door) -> Task<> {
        const std::string key = (co_await door.house.keys.create("a", "default", kAdmin)).key;
        const std::string listed = co_await door.send("GET", "/v1/snapshots", key);
        EXPECT_TRUE(has(listed, "\"id\":\"saaaaaaaaaaaaaaaaaaaa\"")) << listed;
        EXPECT_TRUE(has(listed, "\"name\":null") && has(listed, "\"expires\":null")) << listed;
        EXPECT_FALSE(has(listed, "\"policy\"") || has(listed, "\"tenant\"")) << listed;
        EXPECT_TRUE((co_await door.send("GET", "/v1/snapshots/nothing", key)).starts_with("HTTP/1.1 404"));
    });
}

TEST(SnapshotCalls, TakeTheNamesOfOthersEncoded) {
    at_the_door([](Door& door) -> Task<> {
        const std::string key = (co_await door.house.keys.create("a", "default", kAdmin)).key;
        co_await door.send("POST", std::string{kSandbox} + "/snapshots", key, R"({"name":"app:v1"})");
        co_await door.send("DELETE", "/v1/snapshots/default%2Fapp%3Av1", key);
        co_await door.send("POST", "/v1/snapshots/app%3Av1/retain", key, R"({"kept_ms":5})");
        EXPECT_EQ(door.house.snapshots.told,
                  (std::vector<std::string>{"make igone0000000000000000 app:v1", "remove default/app:v1",
                                            "retain app:v1 5"}));
    });
}

TEST(SnapshotCalls, RefuseWhatTheyDoNotUnderstand) {
    at_the_door([](Door& door) -> Task<> {
        const std::string key = (co_await door.house.keys.create("a", "default", kAdmin)).key;
        for (const auto& [path, body] :
             {std::pair{"/snapshots", R"({"nmae":"x"})"}, std::pair{"/reset", R"({"snapshot":5})"},
              std::pair{"/pause", R"({"keep":"nothing"})"}, std::pair{"/resume", R"({"from":"tape"})"}}) {
            const std::string answer = co_await door.send("POST", kSandbox + std::string{path}, key, body);
            EXPECT_TRUE(answer.starts_with("HTTP/1.1 400")) << path << answer;
        }
        const std::string retain = co_await door.send("POST", "/v1/snapshots/app/retain", key, "{}");
        EXPECT_TRUE(retain.starts_with("HTTP/1.1 400")) << retain;
        EXPECT_TRUE(door.house.snapshots.told.empty());
    });
}

}  // namespace
}  // namespace oyat::native
