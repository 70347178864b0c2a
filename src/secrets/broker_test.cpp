#include "secrets/broker.hpp"

#include <gtest/gtest.h>

#include <map>

#include "base/throwing.hpp"
#include "secrets/base64.hpp"

namespace oyat::secrets {
namespace {

using core::SecretBinding;
using core::SecretPlace;

constexpr const char* kValue = "true-value/+\"1";

class StillClock final : public Clock {
public:
    [[nodiscard]] WallTime wall() const override { return now; }
    [[nodiscard]] MonoTime mono() const override { return {}; }
    WallTime now = from_unix_millis(1'800'000'000'000);
};

class TestValues final : public Values {
public:
    explicit TestValues(const std::map<std::string, std::string>& known) : known_{known} {}
    [[nodiscard]] Result<SecretValue> secret(const std::string& name) const override {
        const auto found = known_.find(name);
        if (found == known_.end()) return refuse(Errc::denied, "secret " + name + " expired");
        return SecretValue{found->second};
    }
    [[nodiscard]] Result<std::string> identity_token(const std::string& name) const override {
        return "token-of-" + name;
    }

private:
    const std::map<std::string, std::string>& known_;
};

class BrokerTest : public testing::Test {
protected:
    static SecretBinding binding(SecretPlace place, std::string name = {}, std::string format = {}) {
        SecretBinding made;
        made.secret = "orders-api";
        if (place != SecretPlace::set_header) made.env = "ORDERS_KEY";
        made.hosts = {"orders.example"};
        made.place = place;
        made.name = std::move(name);
        made.format = std::move(format);
        return made;
    }
    // Puts it in force; returns the placeholder.
    std::string bind(SecretBinding asked) {
        auto checked = std::make_shared<const Binding>(or_throw(Binding::parse(std::move(asked))));
        const std::string id = "b_" + std::to_string(broker_.grants().size());
        std::string placeholder;
        if (!checked->is_injected()) placeholder = checked->shape().make("seed", checked->secret());
        broker_.add({.id = id, .binding = checked, .placeholder = placeholder, .command = {}});
        return placeholder;
    }
    Prepared ask(http::Fields fields, std::string target = "/v1/orders",
                 std::optional<std::string> body = {}) {
        body_ = std::move(body);
        fields_ = std::move(fields);
        target_ = std::move(target);
        RequestView view{
            .tls = tls_, .host = host_, .method = "POST", .target = target_, .fields = fields_, .body = {}};
        if (body_) view.body = *body_;
        return broker_.prepare(view);
    }
    static Note::Kind only_note(const Prepared& prepared) {
        EXPECT_EQ(prepared.notes.size(), 1u);
        return prepared.notes.empty() ? Note::Kind::used : prepared.notes.front().kind;
    }
    void expect_leak(const Prepared& prepared, std::string_view place) {
        EXPECT_FALSE(prepared.forward);
        ASSERT_EQ(prepared.notes.size(), 1u) << place;
        EXPECT_EQ(prepared.notes[0].kind, Note::Kind::leak);
        EXPECT_EQ(prepared.notes[0].place, place);
        EXPECT_EQ(prepared.refusal.find("oyat_ph_"), std::string::npos);
    }

    StillClock clock_;
    std::map<std::string, std::string> known_{{"orders-api", kValue}, {"user-name", "bob-the-user"}};
    Broker broker_{std::make_unique<TestValues>(known_), clock_};
    bool tls_ = true;
    std::string host_ = "orders.example";
    std::string target_;
    http::Fields fields_;
    std::optional<std::string> body_;
};

TEST_F(BrokerTest, PutsTheValueIntoTheHeaderOfItsBinding) {
    const std::string placeholder = bind(binding(SecretPlace::header, "X-Api-Key"));
    const Prepared prepared = ask({{"x-api-key", placeholder}, {"Accept", "*/*"}});
    ASSERT_TRUE(prepared.forward) << prepared.refusal;
    EXPECT_EQ(prepared.fields.get("X-Api-Key"), kValue);
    EXPECT_EQ(prepared.fields.get("Accept"), "*/*");
    EXPECT_EQ(only_note(prepared), Note::Kind::used);
    EXPECT_EQ(broker_.uses("b_0"), 1u);
}

TEST_F(BrokerTest, AFormatMakesTheWholeField) {
    const std::string placeholder = bind(binding(SecretPlace::header, "authorization", "Bearer {}"));
    const Prepared prepared = ask({{"Authorization", "anything " + placeholder + " else"}});
    EXPECT_EQ(prepared.fields.get("Authorization"), std::string{"Bearer "} + kValue);
}

TEST_F(BrokerTest, AnyFieldMeansBasicToo) {
    const std::string placeholder = bind(binding(SecretPlace::header));
    EXPECT_EQ(ask({{"X-Whatever", "k=" + placeholder}}).fields.get("X-Whatever"), std::string{"k="} + kValue);
    const Prepared prepared = ask({{"Authorization", "Basic " + base64("user:" + placeholder)}});
    EXPECT_EQ(prepared.fields.get("Authorization"), "Basic " + base64(std::string{"user:"} + kValue));
}

TEST_F(BrokerTest, SetsAFieldOfWhichTheSandboxHoldsNothing) {
    bind(binding(SecretPlace::set_header, "Authorization", "Basic {secret:user-name}:{} {token:aws} {{}}"));
    const Prepared prepared = ask({{"authorization", "of the client"}, {"Authorization", "twice"}});
    EXPECT_EQ(prepared.fields.count("Authorization"), 1u);
    EXPECT_EQ(prepared.fields.get("Authorization"),
              std::string{"Basic bob-the-user:"} + kValue + " token-of-aws {}");
}

TEST_F(BrokerTest, PutsTheValueIntoAQueryEncoded) {
    const std::string placeholder = bind(binding(SecretPlace::query, "key"));
    const Prepared prepared = ask({}, "/v1?a=%20b&key=" + placeholder + "&c");
    EXPECT_EQ(prepared.target, "/v1?a=%20b&key=true-value%2F%2B%221&c");
}

TEST_F(BrokerTest, PutsTheValueIntoAMemberOfTheBodyAndCountsItsLengthAnew) {
    const std::string placeholder = bind(binding(SecretPlace::body, "token"));
    const http::Fields json{{"Content-Type", "application/json; charset=utf-8"},
                            {"Transfer-Encoding", "chunked"}};
    Prepared prepared = ask(json, "/", "{ \"n\": 1.50, \"token\":\"" + placeholder + "\"}");
    ASSERT_TRUE(prepared.forward) << prepared.refusal;
    EXPECT_EQ(prepared.body, "{ \"n\": 1.50, \"token\":\"true-value/+\\\"1\"}");
    EXPECT_EQ(prepared.fields.get("Content-Length"), std::to_string(prepared.body->size()));
    EXPECT_FALSE(prepared.fields.has("Transfer-Encoding"));
    prepared = ask({{"Content-Type", "application/x-www-form-urlencoded"}}, "/", "a=b&token=" + placeholder);
    EXPECT_EQ(prepared.body, "a=b&token=true-value%2F%2B%221");
}

TEST_F(BrokerTest, ABodyIsReadWholeOnlyWhereItMustBe) {
    bind(binding(SecretPlace::body, "token"));
    const auto need = [&](const http::Fields& fields, std::string_view host) {
        return broker_.body_need(
            {.host = host, .method = "POST", .target = "/", .fields = fields, .body = {}});
    };
    const http::Fields json{{"Content-Type", "application/json"}};
    EXPECT_EQ(need(json, "orders.example"), BodyNeed::whole);
    EXPECT_EQ(need(json, "other.example"), BodyNeed::stream);
    EXPECT_EQ(need({{"Content-Type", "application/zip"}}, "orders.example"), BodyNeed::stream);
}

TEST_F(BrokerTest, SignsRequestsAnewWithTheTrueKey) {
    known_["orders-api"] = "AKIATRUE:the/true/key";
    const std::string placeholder = bind(binding(SecretPlace::aws_sigv4));
    const Prepared prepared = ask(
        {{"X-Amz-Date", "20261130T000000Z"},
         {"X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD"},
         {"Authorization", "AWS4-HMAC-SHA256 Credential=" + placeholder +
                               "/20261130/eu/s3/aws4_request, SignedHeaders=host;x-amz-date, Signature=00"}});
    ASSERT_TRUE(prepared.forward) << prepared.refusal;
    EXPECT_TRUE(
        prepared.fields.get("Authorization").starts_with("AWS4-HMAC-SHA256 Credential=AKIATRUE/20261130/"));
}

// --- E-20 -------------------------------------------------------------------------------------------------

TEST_F(BrokerTest, KeepsAPlaceholderFromGoingAnywhereElse) {
    const std::string placeholder = bind(binding(SecretPlace::header, "X-Api-Key"));
    host_ = "evil.example";
    expect_leak(ask({{"X-Api-Key", placeholder}}), "header X-Api-Key");
    expect_leak(ask({}, "/x/" + placeholder), "path");
    expect_leak(ask({}, "/x?k=" + placeholder), "query");
    expect_leak(ask({}, "/", "a body with " + placeholder), "body");
    expect_leak(ask({{"Authorization", "Basic " + base64("u:" + placeholder)}}), "header Authorization");
    expect_leak(ask({{"X", base64("y" + placeholder)}}), "header X");
    expect_leak(ask({{placeholder, "1"}}), "name of a header");
    EXPECT_EQ(broker_.uses("b_0"), 0u);
}

TEST_F(BrokerTest, KeepsAPlaceholderFromAnotherPlaceOfItsOwnHost) {
    const std::string placeholder = bind(binding(SecretPlace::header, "X-Api-Key"));
    expect_leak(ask({{"X-Other", placeholder}}), "header X-Other");
    // What was put in already does not go out either.
    const Prepared prepared = ask({{"X-Api-Key", placeholder}}, "/echo?" + placeholder);
    expect_leak(prepared, "query");
    EXPECT_EQ(prepared.fields.size(), 0u);
}

TEST_F(BrokerTest, AForbiddenMethodPathPortOrPlainConnectionIsAnotherPlace) {
    SecretBinding asked = binding(SecretPlace::header, "X-Api-Key");
    asked.methods = {"GET", "POST"};
    asked.paths = {"/v1/**"};
    const std::string placeholder = bind(std::move(asked));
    const http::Fields fields{{"X-Api-Key", placeholder}};
    EXPECT_TRUE(ask(fields, "/v1/orders").forward);
    for (const char* target : {"/v2/orders", "/v1/../admin", "/v1/%2e%2e/admin", "/v1//x", "/v1/a%2fb"}) {
        EXPECT_FALSE(ask(fields, target).forward) << target;
    }
    tls_ = false;
    EXPECT_FALSE(ask(fields, "/v1/orders").forward);
}

TEST_F(BrokerTest, ABodyMayNotHoldThePlaceholderBesidesItsMember) {
    const std::string placeholder = bind(binding(SecretPlace::body, "token"));
    const http::Fields json{{"Content-Type", "application/json"}};
    expect_leak(ask(json, "/", R"({"token":")" + placeholder + R"(","echo":")" + placeholder + "\"}"),
                "body");
    expect_leak(ask(json, "/", R"({"in":{"token":")" + placeholder + "\"}}"), "body");
}

TEST_F(BrokerTest, FindsPlaceholdersInBodiesThatPassInPieces) {
    const std::string placeholder = bind(binding(SecretPlace::header, "X-Api-Key"));
    const std::string body = std::string(5000, 'x') + placeholder + "tail";
    for (std::size_t cut = 4990; cut < 5040; ++cut) {
        Broker::Scanner scanner = broker_.scanner();
        const bool first = scanner.feed(std::string_view{body}.substr(0, cut));
        EXPECT_TRUE(first || scanner.feed(std::string_view{body}.substr(cut))) << cut;
    }
    Broker::Scanner scanner = broker_.scanner();
    EXPECT_FALSE(scanner.feed(std::string(100'000, 'x')));
}

// --- refusals ---------------------------------------------------------------------------------------------

TEST_F(BrokerTest, ASecretThatIsGoneIsRefusedByName) {
    const std::string placeholder = bind(binding(SecretPlace::header, "X-Api-Key"));
    known_.clear();
    const Prepared prepared = ask({{"X-Api-Key", placeholder}});
    EXPECT_FALSE(prepared.forward);
    EXPECT_EQ(prepared.refusal, "secret orders-api expired");
    EXPECT_EQ(only_note(prepared), Note::Kind::refused);
}

TEST_F(BrokerTest, ABindingEndsWithItsTimeAndItsUses) {
    SecretBinding asked = binding(SecretPlace::header, "X-Api-Key");
    asked.max_uses = 2;
    asked.expires = clock_.now + std::chrono::hours{1};
    const std::string placeholder = bind(std::move(asked));
    const http::Fields fields{{"X-Api-Key", placeholder}};
    EXPECT_TRUE(ask(fields).forward);
    EXPECT_TRUE(ask(fields).forward);
    EXPECT_EQ(only_note(ask(fields)), Note::Kind::refused);
    broker_.set_uses("b_0", 0);
    clock_.now += std::chrono::hours{1};
    EXPECT_EQ(only_note(ask(fields)), Note::Kind::refused);
}

TEST_F(BrokerTest, IsSuspendedWhilePackagesAreInstalled) {
    const std::string placeholder = bind(binding(SecretPlace::header, "X-Api-Key"));
    broker_.set_installing(true);
    EXPECT_FALSE(ask({{"X-Api-Key", placeholder}}).forward);
    broker_.set_installing(false);
    EXPECT_TRUE(ask({{"X-Api-Key", placeholder}}).forward);
}

// A value with a line feed in it would end the field and begin another.
TEST_F(BrokerTest, AValueThatNoFieldCanCarryIsRefused) {
    known_["orders-api"] = "line one\r\nX-Evil: 1";
    const std::string placeholder = bind(binding(SecretPlace::header, "X-Api-Key"));
    EXPECT_FALSE(ask({{"X-Api-Key", placeholder}}).forward);
    known_["orders-api"] = "ends with a line feed\n";
    EXPECT_EQ(ask({{"X-Api-Key", placeholder}}).fields.get("X-Api-Key"), "ends with a line feed");
}

TEST_F(BrokerTest, APlaceholderDiesWithItsCommand) {
    const std::string placeholder = bind(binding(SecretPlace::header, "X-Api-Key"));
    auto grant = broker_.grants().front();
    broker_.remove_binding("b_0");
    grant.command = "ev_1";
    broker_.add(grant);
    EXPECT_TRUE(ask({{"X-Api-Key", placeholder}}).forward);
    broker_.remove_command("ev_1");
    EXPECT_FALSE(ask({{"X-Api-Key", placeholder}}).forward);
}

TEST_F(BrokerTest, RequestsWithoutSecretsPassAsTheyAre) {
    bind(binding(SecretPlace::header, "X-Api-Key"));
    const Prepared prepared = ask({{"Accept", "*/*"}}, "/a?b=c%20d", "body");
    EXPECT_TRUE(prepared.forward);
    EXPECT_EQ(prepared.target, "/a?b=c%20d");
    EXPECT_FALSE(prepared.body);
    EXPECT_TRUE(prepared.notes.empty());
}

// threats E-20: case is lost in a name, and labels end at 63 bytes.
TEST_F(BrokerTest, ANameMadeOfAPlaceholderIsKnownInEachOfItsWritings) {
    const std::string placeholder = bind(binding(SecretPlace::header, "Authorization"));
    const auto lower = [](std::string text) {
        for (char& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
        return text;
    };
    const std::string coded = lower(base64("k=" + placeholder));
    for (const std::string& name :
         {lower(placeholder) + ".evil.test", lower(placeholder).insert(12, 1, '.') + ".test",
          coded.substr(0, 20) + "." + coded.substr(20) + ".test", std::string{"x-oyat_ph_0123456789.test"}}) {
        EXPECT_TRUE(broker_.could_be_placeholder(name)) << name;
    }
    EXPECT_FALSE(broker_.could_be_placeholder("registry.npmjs.org"));
}

}  // namespace
}  // namespace oyat::secrets
