#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

#include "api/e2b/front.hpp"
#include "base/throwing.hpp"
#include "core/test_house.hpp"
#include "rpc/fake_exchange.hpp"
#include "rpc/message.hpp"
#include "secrets/secrets.hpp"

namespace oyat::e2b {
namespace {

using rpc::FakeExchange;

constexpr const char* kKey = "e2b_00000000000000000000000000000000000000aa";
constexpr const char* kStranger = "e2b_00000000000000000000000000000000000000cc";

// The front before a real core with a real vault and broker.
class SecretEndpoints : public testing::Test {
protected:
    SecretEndpoints() {
        house.secrets = &broker;
        loop.run([](SecretEndpoints& self) -> Task<> {
            co_await self.house.restart();
            co_await self.identities.load();
            co_await self.keys.ensure(kKey, "runner", "default", static_cast<std::uint8_t>(core::Scope::run));
            co_await self.keys.ensure(kStranger, "stranger", "other",
                                      static_cast<std::uint8_t>(core::Scope::run));
        }(*this));
        front = std::make_unique<E2bFront>(
            Services{*house.sandboxes, *house.sandboxes, *house.templates, *house.bus, keys, house.clock, {}, &vault});
    }
    ~SecretEndpoints() override {
        loop.run(front->close());
        loop.run(house.sandboxes->close());
        loop.run(broker.close());
    }
    int call(std::string method, std::string path, std::string body = {}, http::Fields fields = {}) {
        exchange = std::make_unique<FakeExchange>(loop.executor());
        exchange->head.method = std::move(method);
        const std::size_t mark = path.find('?');
        exchange->head.target = path;
        exchange->head.path = path.substr(0, mark);
        if (mark != std::string::npos) exchange->head.query = path.substr(mark + 1);
        if (!fields.has("X-API-KEY")) fields.add("X-API-KEY", kKey);
        exchange->head.fields = std::move(fields);
        exchange->head.peer = "192.0.2.1";
        exchange->body = std::move(body);
        loop.run(front->handle(*exchange));
        return exchange->status;
    }
    boost::json::object answer() { return or_throw(rpc::parse_object(exchange->answer)); }

    Loop loop;
    core::House house{loop.executor()};
    secrets::Seal seal{secrets::SecretValue{std::string(secrets::Seal::kKeyBytes, 'k')}};
    core::FakeLog log;
    core::EventBus events{house.clock, log};
    secrets::Vault vault{house.clock, house.store, events, seal};
    secrets::Identities identities{house.clock, house.store, seal, "https://api.example"};
    secrets::Secrets broker{{.executor = loop.executor(),
                             .clock = house.clock,
                             .store = house.store,
                             .events = events,
                             .vault = vault,
                             .identities = identities,
                             .seal = seal}};
    auth::Keys keys{house.clock, house.store};
    std::unique_ptr<E2bFront> front;
    std::unique_ptr<FakeExchange> exchange;
};

TEST_F(SecretEndpoints, TellEverythingButTheValue) {
    EXPECT_EQ(call("POST", "/secrets", R"({"name":"Key-1","value":"the-true-value","metadata":{"a":"b"}})"),
              201);
    EXPECT_EQ(exchange->answer.find("true-value"), std::string::npos);
    EXPECT_EQ(answer().at("name"), "key-1");
    EXPECT_EQ(answer().at("currentVersion"), 1);
    const std::string id{answer().at("secretID").get_string()};
    EXPECT_EQ(call("POST", "/secrets", R"({"name":"key-1","value":"the-true-value"})"), 409);
    EXPECT_EQ(call("POST", "/secrets/" + id, R"({"value":"another-true-value","metadata":{}})"), 200);
    EXPECT_EQ(answer().at("currentVersion"), 2);
    EXPECT_EQ(call("GET", "/secrets/key-1"), 200);
    EXPECT_EQ(answer().at("secretID"), id.c_str());
    EXPECT_EQ(call("GET", "/secrets/key-1", {}, {{"X-API-KEY", kStranger}}), 404);
    EXPECT_EQ(call("DELETE", "/secrets/key-1"), 204);
    EXPECT_EQ(call("GET", "/secrets/key-1"), 404);
    EXPECT_EQ(answer().at("code"), 404);
    EXPECT_EQ(call("DELETE", "/secrets/key-1"), 404);
    for (const char* body :
         {R"({"name":"a"})", R"({"name":"a b","value":"12345678"})", R"({"value":"12345678"})"}) {
        EXPECT_EQ(call("POST", "/secrets", body), 400) << body;
    }
}

TEST_F(SecretEndpoints, ListInPages) {
    for (const char* name : {"a", "b", "c"}) {
        EXPECT_EQ(call("POST", "/secrets", R"({"name":")" + std::string{name} + R"(","value":"12345678"})"),
                  201);
    }
    EXPECT_EQ(call("GET", "/secrets?limit=2"), 200);
    EXPECT_EQ(exchange->answer_fields.get("X-Next-Token"), "b");
    EXPECT_EQ(call("GET", "/secrets?limit=2&nextToken=b"), 200);
    EXPECT_NE(exchange->answer.find(R"("name":"c")"), std::string::npos);
    EXPECT_EQ(exchange->answer.find(R"("name":"a")"), std::string::npos);
    EXPECT_FALSE(exchange->answer_fields.has("X-Next-Token"));
    EXPECT_EQ(call("GET", "/secrets?limit=0"), 400);
}

TEST_F(SecretEndpoints, ADialectNamesHosts) {
    const http::Fields dialect{{"X-Novita-SDK-Name", "novita-sandbox"}};
    EXPECT_EQ(call("POST", "/secrets", R"({"name":"a","value":"12345678","hosts":["api.example"]})", dialect),
              201);
    EXPECT_EQ(call("PUT", "/secrets/a", R"({"value":"123456789","hosts":["b.example"]})", dialect), 200);
    EXPECT_EQ(call("GET", "/secrets", {}, dialect), 200);
    EXPECT_EQ(answer().at("secrets").at(0).at("hosts").at(0), "b.example");
    EXPECT_EQ(
        call("POST", "/sandboxes", R"({"templateID":"base","timeout":60,"secrets":{"A_KEY":"a"}})", dialect),
        201);
    const auto sandbox = house.sandboxes->every().front();
    EXPECT_TRUE(sandbox->environment().at("A_KEY").starts_with("oyat_ph_"));
    EXPECT_EQ(call("DELETE", "/secrets/a", {}, dialect), 200);
    EXPECT_EQ(answer().at("deleted"), "a");
}

TEST_F(SecretEndpoints, AChangeOfTheNetworkReplacesTheTransforms) {
    EXPECT_EQ(call("POST", "/secrets", R"({"name":"key1","value":"the-true-value"})"), 201);
    EXPECT_EQ(call("POST", "/v2/sandboxes", R"({"templateID":"base"})"), 201) << exchange->answer;
    const std::string id{answer().at("sandboxID").get_string()};
    const auto change = [&](const std::string& rules) {
        return call("PUT", "/sandboxes/" + id + "/network", R"({"rules":{)" + rules + "}}");
    };
    const auto shown = [&] {
        EXPECT_EQ(call("GET", "/sandboxes/" + id), 200);
        return boost::json::serialize(answer());
    };
    EXPECT_EQ(
        change(
            R"("api.example":[{"transform":{"headers":{"X-Key":"${e2b.secrets.key1}","X-Plain":"in-clear"}}}])"),
        204);
    EXPECT_TRUE(shown().contains(
        R"("rules":{"api.example":[{"transform":{"headers":{"X-Key":"${e2b.secrets.key1}","X-Plain":"***"}}}]})"));
    EXPECT_EQ(change(R"("api.example":[{"transform":{"headers":{"X-Key":"${e2b.secrets.nobody}"}}}])"), 400);
    EXPECT_TRUE(shown().contains("X-Plain")) << "nothing has changed";
    EXPECT_EQ(change(R"("b.example":[{"transform":{"headers":{"X":"y"}}}])"), 204);
    EXPECT_FALSE(shown().contains("api.example"));
    EXPECT_EQ(call("PUT", "/sandboxes/" + id + "/network", "{}"), 204);
    EXPECT_FALSE(shown().contains("rules"));
}

TEST_F(SecretEndpoints, ATransformIsSetOutsideTheSandbox) {
    EXPECT_EQ(call("POST", "/secrets", R"({"name":"key1","value":"the-true-value"})"), 201);
    const std::string rule =
        R"({"templateID":"base","network":{"rules":{"api.example":[{"transform":{"headers":{
        "Authorization":"Bearer ${e2b.secrets.key1}"}}}]}}})";
    EXPECT_EQ(call("POST", "/v2/sandboxes", rule), 201) << exchange->answer;
    const std::string id{answer().at("sandboxID").get_string()};
    const http::Fields none;
    const secrets::Prepared prepared = broker.prepare(
        id, {.host = "api.example", .method = "GET", .target = "/", .fields = none, .body = {}});
    EXPECT_EQ(prepared.fields.get("Authorization"), "Bearer the-true-value");
    EXPECT_EQ(call("DELETE", "/sandboxes/" + id), 204);
    EXPECT_EQ(broker.broker(id), nullptr);
    EXPECT_EQ(call("DELETE", "/secrets/key1"), 204);
    EXPECT_EQ(call("POST", "/v2/sandboxes", rule), 400) << "404 would be a template that is not there";
}

}  // namespace
}  // namespace oyat::e2b
