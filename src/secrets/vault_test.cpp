#include "secrets/vault.hpp"

#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

#include "base/throwing.hpp"
#include "core/fakes_for_tests.hpp"
#include "io/run.hpp"

namespace oyat::secrets {
namespace {

core::Principal who(std::string tenant = "acme") {
    return {.key_id = "key_1",
            .tenant = std::move(tenant),
            .scopes = 1,
            .client = "test/1",
            .protocol = "native"};
}

class VaultTest : public testing::Test {
protected:
    Secret create(std::string name, std::string value, std::string tenant = "acme") {
        return run(
            vault_.create({.name = std::move(name), .value = std::move(value)}, who(std::move(tenant))));
    }
    std::string open(const std::string& name) {
        const Result<SecretValue> value = vault_.open("acme", name);
        return value ? std::string{value->bytes()} : "refused: " + value.error().message();
    }
    std::vector<std::string> known(const std::string& name) {
        std::vector<std::string> all;
        vault_.each_value("acme", name, [&](std::string_view value) { all.emplace_back(value); });
        return all;
    }

    core::FakeClock clock_;
    core::FakeStore store_;
    core::FakeLog log_;
    core::EventBus events_{clock_, log_};
    Seal seal_{SecretValue{std::string(Seal::kKeyBytes, 'k')}};
    Vault vault_{clock_, store_, events_, seal_};
};

TEST_F(VaultTest, KeepsValuesOfAnyBytesUpTo64KiB) {
    const std::string awkward = "line one\nline \"two\"\t'three'\\ \xff end";
    create("awkward", awkward);
    create("large", std::string(64 * 1024, 'x'));
    EXPECT_EQ(open("awkward"), awkward);
    EXPECT_EQ(open("large").size(), 64u * 1024);
    EXPECT_THROW(create("too-large", std::string(64 * 1024 + 1, 'x')), Error);
    EXPECT_THROW(create("empty", ""), Error);
}

TEST_F(VaultTest, FindsThemAgainAfterARestart) {
    create("orders-api", "the-true-value");
    Vault again{clock_, store_, events_, seal_};
    run(again.load());
    EXPECT_EQ(or_throw(again.open("acme", "orders-api")).bytes(), "the-true-value");
}

// Going on with another key would lose the values at the next change.
TEST_F(VaultTest, DoesNotStartWithAnotherKeyFile) {
    create("orders-api", "the-true-value");
    const Seal other{SecretValue{std::string(Seal::kKeyBytes, 'x')}};
    Vault again{clock_, store_, events_, other};
    EXPECT_THROW(run(again.load()), Error);
}

TEST_F(VaultTest, WritesTheValueNeitherIntoTheStoreNorTheRecord) {
    create("orders-api", "the-true-value");
    run(vault_.rotate("orders-api", {.value = "another-true-value"}, who()));
    for (const auto& [place, body] : store_.items)
        EXPECT_EQ(body.find("true-value"), std::string::npos) << body;
    for (const core::Event& event : log_.events) {
        EXPECT_EQ(boost::json::serialize(event.fields).find("true-value"), std::string::npos);
    }
    EXPECT_EQ(log_.count("secret.created"), 1u);
    EXPECT_EQ(log_.count("secret.rotated"), 1u);
}

TEST_F(VaultTest, NamesAreOfOneTenantAndOfOneCase) {
    create("Orders-API", "the-true-value");
    EXPECT_EQ(vault_.find("acme", "orders-api").name, "orders-api");
    EXPECT_EQ(vault_.find("acme", vault_.find("acme", "ORDERS-api").id).name, "orders-api");
    EXPECT_THROW(create("orders-api", "the-true-value"), Error);
    EXPECT_NO_THROW(create("orders-api", "of somebody else", "other"));
    EXPECT_EQ(open("orders-api"), "the-true-value");
    EXPECT_EQ(vault_.look("third", "orders-api"), nullptr);
    EXPECT_EQ(vault_.look("other", vault_.find("acme", "orders-api").id), nullptr);
    for (const char* name : {"", "sec_1234", "with space", "dot.ted", "sl/ash"})
        EXPECT_THROW(create(name, "12345678"), Error) << name;
}

TEST_F(VaultTest, ARotationIsInForceAtOnceAndTheOldValueKnownForItsGrace) {
    create("orders-api", "first-value");
    run(vault_.rotate("orders-api", {.value = "second-value", .grace = std::chrono::minutes{5}}, who()));
    EXPECT_EQ(open("orders-api"), "second-value");
    EXPECT_EQ(known("orders-api"), (std::vector<std::string>{"first-value", "second-value"}));
    clock_.pass(std::chrono::minutes{5});
    EXPECT_EQ(known("orders-api"), (std::vector<std::string>{"second-value"}));
    const std::uint64_t before = vault_.generation();
    run(vault_.rotate("orders-api", {.value = "third-value"}, who()));
    EXPECT_EQ(known("orders-api"), (std::vector<std::string>{"third-value"}));
    EXPECT_GT(vault_.generation(), before);
}

TEST_F(VaultTest, WhatIsRevokedExpiredOrRemovedIsRefusedByName) {
    create("orders-api", "the-true-value");
    run(vault_.revoke("orders-api", who()));
    EXPECT_EQ(open("orders-api"), "refused: secret orders-api was revoked");
    EXPECT_THROW(run(vault_.rotate("orders-api", {.value = "new-value"}, who())), Error);
    run(vault_.remove("orders-api", who()));
    EXPECT_EQ(open("orders-api"), "refused: secret orders-api does not exist any more");
    run(vault_.create(
        {.name = "short", .value = "the-true-value", .expires = clock_.wall() + std::chrono::hours{1}},
        who()));
    EXPECT_EQ(open("short"), "the-true-value");
    clock_.pass(std::chrono::hours{1});
    EXPECT_EQ(open("short"), "refused: secret short expired");
}

TEST_F(VaultTest, ANotWrittenRecordOrStoreChangesNothing) {
    log_.refuses = true;
    EXPECT_THROW(create("orders-api", "the-true-value"), Error);
    EXPECT_TRUE(store_.items.empty());
    log_.refuses = false;
    store_.fails = true;
    EXPECT_THROW(create("orders-api", "the-true-value"), Error);
    EXPECT_TRUE(vault_.list("acme").empty());
    store_.fails = false;
    EXPECT_NO_THROW(create("orders-api", "the-true-value"));
}

}  // namespace
}  // namespace oyat::secrets
