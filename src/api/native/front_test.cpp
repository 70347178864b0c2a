#include "api/native/front.hpp"

#include <gtest/gtest.h>

#include "api/native/door_for_tests.hpp"

namespace oyat::native {
namespace {

using http::testing::has;
using testing::at_the_door;
using testing::Door;
using testing::kAdmin;
using testing::kRead;

std::string filled(std::string path) {
    while (path.find('{') != path.npos) {
        path.replace(path.find('{'), path.find('}') - path.find('{') + 1, "iaaaaaaaaaaaaaaaaaaaa");
    }
    return path;
}

TEST(NativeFront, EveryRouteWantsAKeyExceptHealth) {  // threats C-01
    at_the_door([](Door& door) -> Task<> {
        for (const std::string& route : door.house.front.routes()) {
            const std::string method = route.substr(0, route.find(' '));
            const std::string path = filled(route.substr(route.find(' ') + 1));
            const std::string answer = co_await door.send(method, path, "");
            const bool closed = answer.starts_with("HTTP/1.1 401") || answer.starts_with("HTTP/1.1 429");
            EXPECT_EQ(closed, route != "GET /health" && !route.starts_with("GET /.well-known/"))
                << route << answer;
        }
    });
}

TEST(NativeFront, AKeyThatMayOnlyReadChangesNothing) {
    at_the_door([](Door& door) -> Task<> {
        const std::string key = (co_await door.house.keys.create("r", "default", kRead)).key;
        for (const std::string& route : door.house.front.routes()) {
            // Two questions have a body, and change nothing.
            const bool asks = route.ends_with("/policy:explain") || route.ends_with("/policies:check");
            if (route.starts_with("GET") || asks) continue;
            const std::string method = route.substr(0, route.find(' '));
            const std::string answer =
                co_await door.send(method, filled(route.substr(route.find(' ') + 1)), key);
            EXPECT_TRUE(answer.starts_with("HTTP/1.1 403")) << route << answer;
            EXPECT_TRUE(has(answer, "lacks the scope")) << route;
        }
    });
}

TEST(NativeFront, ErrorsCarryCodeFaultEventAndHint) {
    at_the_door([](Door& door) -> Task<> {
        const std::string key = (co_await door.house.keys.create("a", "default", kAdmin)).key;
        const std::string answer = co_await door.send("GET", "/v1/sandboxes/iaaaaaaaaaaaaaaaaaaaa", key);
        EXPECT_TRUE(answer.starts_with("HTTP/1.1 404"));
        for (const char* part :
             {"\"code\":\"not_found\"", "\"fault\":\"client\"", "\"event\":\"ev_", "\"hint\":\"'oyat ls"}) {
            EXPECT_TRUE(has(answer, part)) << part << answer;
        }
        EXPECT_EQ(door.house.bus.recent({.type_prefix = "request.refused"}, 10).size(), 1u);
    });
}

// Or whoever reads a sandbox's log would not see what was tried on it.
TEST(NativeFront, ARefusalStandsWithItsSandboxForWhomItBelongsTo) {
    at_the_door([](Door& door) -> Task<> {
        const std::string& id = door.house.sandboxes.gone.id;
        for (const auto& [tenant, sandbox] : {std::pair{"default", id}, std::pair{"acme", std::string{}}}) {
            const std::string key = (co_await door.house.keys.create("a", tenant, kAdmin)).key;
            co_await door.send("DELETE", "/v1/sandboxes/" + id, key);
            const auto refusals =
                door.house.bus.recent({.tenant = tenant, .type_prefix = "request.refused"}, 1);
            EXPECT_EQ(refusals.at(0)->sandbox, sandbox) << tenant;
        }
    });
}

TEST(NativeFront, UnknownMembersOfABodyAreRefused) {
    at_the_door([](Door& door) -> Task<> {
        const std::string key = (co_await door.house.keys.create("a", "default", kAdmin)).key;
        const std::string odd = co_await door.send("POST", "/v1/sandboxes", key, R"({"memroy_bytes":1})");
        EXPECT_TRUE(odd.starts_with("HTTP/1.1 400") && has(odd, "memroy_bytes")) << odd;
        const std::string inner =
            co_await door.send("POST", "/v1/sandboxes", key, R"({"limits":{"memory":1}})");
        EXPECT_TRUE(has(inner, "limits.memory")) << inner;
        EXPECT_FALSE(door.house.sandboxes.asked);
        const std::string full =
            co_await door.send("POST", "/v1/sandboxes", key,
                               R"({"template":"base","limits":{"memory_bytes":1048576},"internet":false})");
        EXPECT_TRUE(full.starts_with("HTTP/1.1 429") && has(full, "\"fault\":\"limit\"")) << full;
        EXPECT_EQ(door.house.sandboxes.asked->limits.memory_bytes, 1048576u);
        EXPECT_FALSE(door.house.sandboxes.asked->internet);
    });
}

TEST(NativeFront, ShowsAnEndedSandboxWithoutItsToken) {
    at_the_door([](Door& door) -> Task<> {
        const std::string key = (co_await door.house.keys.create("a", "default", kRead)).key;
        const std::string answer = co_await door.send("GET", "/v1/sandboxes/igone0000000000000000", key);
        EXPECT_TRUE(has(answer, "\"ended_by\":\"timeout\"")) << answer;
        EXPECT_TRUE(has(answer, "\"created\":\"2026-")) << answer;
        EXPECT_FALSE(has(answer, "secret-token"));
        const std::string stranger = (co_await door.house.keys.create("b", "other", kRead)).key;
        EXPECT_TRUE((co_await door.send("GET", "/v1/sandboxes/igone0000000000000000", stranger))
                        .starts_with("HTTP/1.1 404"));
    });
}

TEST(NativeFront, InfoSaysWhatRunsAndWhatIsHeld) {
    at_the_door([](Door& door) -> Task<> {
        const std::string key = (co_await door.house.keys.create("a", "default", kRead)).key;
        const std::string answer = co_await door.send("GET", "/v1/info", key);
        for (const char* part :
             {"\"version\":\"1.2.3\"", "\"boundary\":\"shared-kernel\"", "\"capabilities\":[\"pause\"]",
              "\"held\":{\"sandboxes\":3", "\"mechanism\":\"cgroup\""}) {
            EXPECT_TRUE(has(answer, part)) << part << answer;
        }
    });
}

TEST(NativeFront, KeysAreMadeListedAndRevoked) {
    at_the_door([](Door& door) -> Task<> {
        const std::string key = (co_await door.house.keys.create("a", "default", kAdmin)).key;
        const std::string made =
            co_await door.send("POST", "/v1/keys", key, R"({"name":"ci","tenant":"acme","scopes":["run"]})");
        EXPECT_TRUE(made.starts_with("HTTP/1.1 201") && has(made, "\"key\":\"e2b_")) << made;
        const std::string id = door.house.keys.list("acme").at(0).id;
        EXPECT_FALSE(has(co_await door.send("GET", "/v1/keys?tenant=acme", key), "e2b_"));
        EXPECT_TRUE((co_await door.send("DELETE", "/v1/keys/" + id + "?tenant=acme", key))
                        .starts_with("HTTP/1.1 204"));
        EXPECT_TRUE(door.house.keys.list("acme").at(0).revoked);
    });
}

TEST(NativeFront, OnlyWhoRunsTheServerMakesKeysForOthers) {
    at_the_door([](Door& door) -> Task<> {
        const std::string key = (co_await door.house.keys.create("a", "acme", kAdmin)).key;
        const std::string answer =
            co_await door.send("POST", "/v1/keys", key, R"({"tenant":"default","scopes":["admin"]})");
        EXPECT_TRUE(answer.starts_with("HTTP/1.1 403")) << answer;
    });
}

// A template is everybody's: who replaces "base" decides what runs in the sandboxes of all others.
TEST(NativeFront, OnlyWhoRunsTheServerChangesTemplates) {
    at_the_door([](Door& door) -> Task<> {
        const std::string own = (co_await door.house.keys.create("a", "default", kAdmin)).key;
        const std::string other = (co_await door.house.keys.create("a", "acme", kAdmin)).key;
        for (const auto& [method, path] :
             {std::pair{"POST", "/v1/templates?name=base"}, std::pair{"DELETE", "/v1/templates/base"},
              std::pair{"GET", "/v1/templates/base/archive"}}) {
            const std::string refused = co_await door.send(method, path, other);
            EXPECT_TRUE(refused.starts_with("HTTP/1.1 403")) << method << path << refused;
            const std::string passed = co_await door.send(method, path, own);
            EXPECT_FALSE(passed.starts_with("HTTP/1.1 403")) << method << path << passed;
        }
    });
}

TEST(NativeFront, EventsAreShownToTheirTenantOnly) {
    at_the_door([](Door& door) -> Task<> {
        const std::string reader = (co_await door.house.keys.create("a", "acme", kRead)).key;
        const std::string root = (co_await door.house.keys.create("a", "default", kAdmin)).key;
        for (const char* tenant : {"acme", "other"}) {
            door.house.bus.emit({.type = "sandbox.created", .tenant = tenant, .fields = {{"mark", tenant}}});
        }
        const std::string own = co_await door.send("GET", "/v1/events?type=sandbox.", reader);
        EXPECT_TRUE(has(own, "\"mark\":\"acme\"") && !has(own, "\"mark\":\"other\"")) << own;
        EXPECT_TRUE(has(co_await door.send("GET", "/v1/events", root), "\"mark\":\"other\""));
    });
}

TEST(NativeFront, MetricsTakeABearerKeyAsPrometheusSendsIt) {
    at_the_door([](Door& door) -> Task<> {
        const std::string key = (co_await door.house.keys.create("a", "default", kRead)).key;
        const std::string answer = co_await http::testing::exchange_raw(
            door.port, "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer " +
                           key + "\r\n\r\n");
        EXPECT_TRUE(has(answer, "oyat_up 1")) << answer;
    });
}

TEST(NativeFront, UnknownCallsAndMethodsAreToldApart) {
    at_the_door([](Door& door) -> Task<> {
        EXPECT_TRUE((co_await door.send("GET", "/v1/nothing", "")).starts_with("HTTP/1.1 404"));
        EXPECT_TRUE((co_await door.send("PATCH", "/v1/sandboxes", "")).starts_with("HTTP/1.1 405"));
    });
}

}  // namespace
}  // namespace oyat::native
