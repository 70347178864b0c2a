#include "secrets/secrets.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/throwing.hpp"
#include "core/fakes_for_tests.hpp"
#include "io/loop.hpp"
#include "secrets/base64.hpp"

namespace oyat::secrets {
namespace {

core::SecretBinding header(std::string secret, std::string env = "ORDERS_KEY") {
    core::SecretBinding binding;
    binding.secret = std::move(secret);
    binding.env = std::move(env);
    binding.hosts = {"orders.example"};
    binding.name = "X-Api-Key";
    return binding;
}

class SecretsTest : public testing::Test {
protected:
    SecretsTest() {
        loop_.run([](SecretsTest& self) -> Task<> {
            co_await self.identities_.load();
            co_await self.vault_.create({.name = "orders-api", .value = "the-true-value"}, self.who());
            co_await self.vault_.create({.name = "tiny", .value = "1234567"}, self.who());
            co_await self.vault_.create(
                {.name = "narrow", .value = "the-true-value-2", .hosts = {"*.narrow.example"}}, self.who());
        }(*this));
    }
    [[nodiscard]] static core::Principal who() {
        return {.key_id = "key_1", .tenant = "acme", .scopes = 1, .client = "test/1", .protocol = "native"};
    }
    core::SecretsControl::Variables bind(std::string sandbox, std::vector<core::SecretBinding> bindings) {
        core::SecretsControl::Variables variables;
        loop_.run([](SecretsTest& self, std::string into, std::vector<core::SecretBinding> all,
                     core::SecretsControl::Variables& made) -> Task<> {
            made = co_await self.secrets_->bind({.sandbox = into, .tenant = "acme"},
                                                {.bindings = std::move(all)}, who());
        }(*this, std::move(sandbox), std::move(bindings), variables));
        return variables;
    }
    void run(Task<> task) { loop_.run(std::move(task)); }
    std::unique_ptr<Secrets> make() {
        return std::make_unique<Secrets>(SecretsDeps{.executor = loop_.executor(),
                                                     .clock = clock_,
                                                     .store = store_,
                                                     .events = events_,
                                                     .vault = vault_,
                                                     .identities = identities_,
                                                     .seal = seal_});
    }
    Prepared ask(const std::string& sandbox, std::string value, std::string_view host = "orders.example") {
        fields_ = {{"X-Api-Key", std::move(value)}};
        return secrets_->prepare(
            sandbox, {.host = host, .method = "GET", .target = "/", .fields = fields_, .body = {}});
    }
    std::string objection(const core::SecretPlan& plan) {
        try {
            secrets_->check("acme", plan);
            return "";
        } catch (const Error& error) {
            return error.message();
        }
    }

    Loop loop_;
    core::FakeClock clock_;
    core::FakeStore store_;
    core::FakeLog log_;
    core::EventBus events_{clock_, log_};
    Seal seal_{SecretValue{std::string(Seal::kKeyBytes, 'k')}};
    Vault vault_{clock_, store_, events_, seal_};
    Identities identities_{clock_, store_, seal_, "https://api.example"};
    http::Fields fields_;
    std::unique_ptr<Secrets> secrets_ = make();
};

TEST_F(SecretsTest, EachSandboxGetsAPlaceholderOfItsOwn) {
    const auto one = bind("one", {header("orders-api")});
    const auto two = bind("two", {header("orders-api")});
    ASSERT_EQ(one.size(), 1u);
    EXPECT_TRUE(one.at("ORDERS_KEY").starts_with("oyat_ph_"));
    EXPECT_NE(one.at("ORDERS_KEY"), two.at("ORDERS_KEY"));
    EXPECT_EQ(ask("one", one.at("ORDERS_KEY")).fields.get("X-Api-Key"), "the-true-value");
    EXPECT_FALSE(ask("two", one.at("ORDERS_KEY")).forward);
    EXPECT_TRUE(ask("no-bindings", "text").forward);
}

TEST_F(SecretsTest, TheRecordHoldsNamesAndNoValueAndNoPlaceholder) {
    const std::string placeholder = bind("one", {header("orders-api")}).at("ORDERS_KEY");
    (void)ask("one", placeholder);
    (void)ask("one", placeholder, "evil.example");
    secrets_->leaked("one", placeholder + ".evil.example", 53, "name");
    for (const char* type : {"secret.bound", "secret.used", "secret.leak_attempt"}) {
        EXPECT_NE(log_.last(type), nullptr) << type;
    }
    EXPECT_EQ(log_.last("secret.used")->fields.at("secret"), "orders-api");
    for (const core::Event& event : log_.events) {
        const std::string text = boost::json::serialize(event.fields);
        EXPECT_EQ(text.find("true-value"), std::string::npos) << text;
        EXPECT_EQ(text.find(placeholder), std::string::npos) << text;
    }
}

TEST_F(SecretsTest, RefusesWhatCannotBeEnforced) {
    EXPECT_NE(objection({.bindings = {header("unknown")}}), "");
    EXPECT_NE(objection({.bindings = {header("tiny")}}).find("shorter than 8 bytes"), std::string::npos);
    EXPECT_NE(objection({.bindings = {header("narrow")}}).find("may not go to"), std::string::npos);
    EXPECT_NE(objection({.bindings = {header("orders-api"), header("narrow", "OTHER")}}), "");
    core::SecretBinding fits = header("narrow");
    fits.hosts = {"api.narrow.example"};
    EXPECT_EQ(objection({.bindings = {header("orders-api", "A"), fits}}), "");
    // One variable cannot hold two placeholders.
    EXPECT_NE(objection({.bindings = {header("orders-api", "A"),
                                      [&] {
                                          core::SecretBinding same = fits;
                                          same.env = "A";
                                          return same;
                                      }()}}),
              "");
}

TEST_F(SecretsTest, WhatCannotBeRecordedBindsAndUnbindsNothing) {
    (void)bind("one", {header("orders-api")});
    const std::string id = secrets_->bindings("one").at(0).id;
    log_.refuses = true;
    EXPECT_THROW(bind("two", {header("orders-api")}), Error);
    EXPECT_TRUE(secrets_->bindings("two").empty());
    EXPECT_THROW(run(secrets_->remove_binding("one", id, who())), Error);
    EXPECT_EQ(secrets_->bindings("one").size(), 1u);
}

TEST_F(SecretsTest, ARotationIsInForceAtTheNextRequestAndTheMaskerKnowsIt) {
    const std::string placeholder = bind("one", {header("orders-api")}).at("ORDERS_KEY");
    const std::uint64_t before = secrets_->generation();
    run([](Vault& vault) -> Task<> {
        co_await vault.rotate("orders-api", {.value = "rotated-value", .grace = Millis{60'000}}, who());
    }(vault_));
    EXPECT_EQ(ask("one", placeholder).fields.get("X-Api-Key"), "rotated-value");
    EXPECT_GT(secrets_->generation(), before);
    EXPECT_EQ(secrets_->values_of("one").size(), 2u);
}

TEST_F(SecretsTest, BindingsSurviveARestartWithTheirPlaceholdersAndUses) {
    core::SecretBinding limited = header("orders-api");
    limited.max_uses = 2;
    const std::string placeholder = bind("one", {limited}).at("ORDERS_KEY");
    EXPECT_TRUE(ask("one", placeholder).forward);
    run(secrets_->close());
    secrets_ = make();
    run(secrets_->load());
    EXPECT_TRUE(ask("one", placeholder).forward);
    EXPECT_FALSE(ask("one", placeholder).forward);
    EXPECT_EQ(secrets_->bindings("one").at(0).uses, 2u);
    EXPECT_EQ(secrets_->interceptions("one").at(0).hosts.at(0).text(), "orders.example");
}

// A field that is set outside, to something that was written plainly.
core::SecretBinding rule(std::string name, std::string value) {
    core::SecretBinding binding;
    binding.hosts = {"orders.example"};
    binding.place = core::SecretPlace::set_header;
    binding.name = std::move(name);
    binding.format = std::move(value);
    binding.group = core::kHeaderRules;
    return binding;
}

TEST_F(SecretsTest, AGroupIsReplacedWholeAndNothingElse) {
    const auto replace = [this](std::vector<core::SecretBinding> rules) {
        run(secrets_->replace({.sandbox = "one", .tenant = "acme"}, std::string{core::kHeaderRules},
                              {.bindings = std::move(rules)}, who()));
    };
    replace({});  // of nothing
    EXPECT_EQ(secrets_->broker("one"), nullptr);
    const std::string placeholder = bind("one", {header("orders-api")}).at("ORDERS_KEY");
    replace({rule("X-First", "plainly-given")});
    EXPECT_EQ(ask("one", placeholder).fields.get("X-First"), "plainly-given");
    EXPECT_EQ(ask("one", placeholder).fields.get("X-Api-Key"), "the-true-value");

    EXPECT_THROW(replace({rule("X-Second", "{secret:unknown}")}), Error);
    EXPECT_EQ(ask("one", "x").fields.get("X-First"), "plainly-given") << "nothing has changed";
    replace({rule("X-First", "changed"), rule("X-Second", "more")});
    run(secrets_->close());
    secrets_ = make();
    run(secrets_->load());
    EXPECT_EQ(secrets_->group("one", std::string{core::kHeaderRules}).size(), 2u);
    EXPECT_EQ(ask("one", "x").fields.get("X-First"), "changed");
    replace({});
    EXPECT_EQ(ask("one", placeholder).fields.get("X-First"), "");
    EXPECT_EQ(ask("one", placeholder).fields.get("X-Api-Key"), "the-true-value");
}

TEST_F(SecretsTest, OfHeaderRulesThoseOfTheNarrowestHostHoldAlone) {
    const auto at = [](std::string host, std::string name, std::string value) {
        core::SecretBinding binding = rule(std::move(name), std::move(value));
        binding.hosts = {std::move(host)};
        return binding;
    };
    bind("one", {at("*.a.example", "X-Who", "wide"), at("*.b.a.example", "X-Who", "narrower"),
                 at("c.b.a.example", "X-Who", "one"), at("*.a.example", "X-More", "wide")});
    const auto who_at = [this](std::string_view host) {
        const Prepared prepared = ask("one", "x", host);
        return std::string{prepared.fields.get("X-Who")} + "," + std::string{prepared.fields.get("X-More")};
    };
    EXPECT_EQ(who_at("x.a.example"), "wide,wide");
    EXPECT_EQ(who_at("x.b.a.example"), "narrower,");
    EXPECT_EQ(who_at("c.b.a.example"), "one,");
    EXPECT_EQ(who_at("a.example"), ",");
    EXPECT_NE(objection({.bindings = {at("a.example", "X", "1"), at("a.example", "x", "2")}}), "");
}

TEST_F(SecretsTest, WhatWasWrittenIntoAFieldPlainlyIsNeitherInTheStoreNorOnTheRecord) {
    bind("one", {rule("X-First", "plainly-given")});
    EXPECT_FALSE(store_.items.at({"bindings", "one"}).contains("plainly-given"));
    ASSERT_NE(log_.last("secret.bound"), nullptr);
    EXPECT_EQ(log_.last("secret.bound")->fields.at("name"), "X-First");
    EXPECT_FALSE(boost::json::serialize(log_.last("secret.bound")->fields).contains("plainly-given"));
}

TEST_F(SecretsTest, TextIsLockedForOneSandbox) {
    const std::string locked = secrets_->lock("one", "password-of-a-proxy");
    EXPECT_FALSE(locked.contains("password"));
    EXPECT_EQ(or_throw(secrets_->unlock("one", locked)), "password-of-a-proxy");
    EXPECT_FALSE(secrets_->unlock("two", locked));
}

TEST_F(SecretsTest, TheEndOfASandboxIsTheEndOfItsBindings) {
    bind("one", {header("orders-api")});
    bind("two", {header("orders-api")});
    run(secrets_->unbind("one"));
    EXPECT_EQ(secrets_->broker("one"), nullptr);
    run(secrets_->keep_only({}));
    EXPECT_EQ(secrets_->broker("two"), nullptr);
    EXPECT_EQ(store_.items.count({"bindings", "one"}) + store_.items.count({"bindings", "two"}), 0u);
}

TEST_F(SecretsTest, APlaceholderOfACommandIsForItAlone) {
    core::SecretBinding scoped = header("orders-api");
    scoped.commands = {{"python", "**"}};
    EXPECT_TRUE(bind("one", {scoped}).empty());
    EXPECT_TRUE(secrets_->for_command("one", "ev_1", {"bash", "-c", "env"}).empty());
    const auto first = secrets_->for_command("one", "ev_2", {"python", "a.py"});
    const auto second = secrets_->for_command("one", "ev_3", {"python", "a.py"});
    EXPECT_NE(first.at("ORDERS_KEY"), second.at("ORDERS_KEY"));
    EXPECT_TRUE(ask("one", first.at("ORDERS_KEY")).forward);
    secrets_->command_ended("one", "ev_2");
    EXPECT_FALSE(ask("one", first.at("ORDERS_KEY")).forward);
    EXPECT_TRUE(ask("one", second.at("ORDERS_KEY")).forward);
}

TEST_F(SecretsTest, AnIdentityTokenSaysWhoTheSandboxIs) {
    core::SecretBinding injected;
    injected.hosts = {"sts.example"};
    injected.place = core::SecretPlace::set_header;
    injected.name = "Authorization";
    injected.format = "Bearer {token:aws}";
    EXPECT_NE(objection({.bindings = {injected}}), "");
    run([](Secrets& secrets, core::SecretBinding binding) -> Task<> {
        co_await secrets.bind({.sandbox = "one", .tenant = "acme"},
                              {.bindings = {std::move(binding)}, .identities = {{"aws", {"sts.example"}}}},
                              who());
    }(*secrets_, injected));
    const Prepared prepared = ask("one", "x", "sts.example");
    ASSERT_TRUE(prepared.forward) << prepared.refusal;
    const std::string token{prepared.fields.get("Authorization").substr(7)};
    const std::size_t first = token.find('.');
    const std::size_t second = token.find('.', first + 1);
    const auto claims = boost::json::parse(from_base64(token.substr(first + 1, second - first - 1)).value());
    EXPECT_EQ(claims.at("sub"), "acme/one");
    EXPECT_EQ(claims.at("aud"), "sts.example");
    EXPECT_EQ(claims.at("exp").as_int64() - claims.at("iat").as_int64(), 600);
    EXPECT_EQ(from_base64(token.substr(second + 1)).value().size(), 64u);
    EXPECT_EQ(identities_.key_set().at("keys").at(0).at("kid"),
              boost::json::parse(from_base64(token.substr(0, first)).value()).at("kid"));
}

}  // namespace
}  // namespace oyat::secrets
