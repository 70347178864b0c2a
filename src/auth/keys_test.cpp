#include "auth/keys.hpp"

#include <gtest/gtest.h>

#include "auth/sha256.hpp"
#include "io/run.hpp"

namespace oyat::auth {
namespace {

class HandClock final : public Clock {
public:
    [[nodiscard]] WallTime wall() const override { return WallTime{now}; }
    [[nodiscard]] MonoTime mono() const override { return MonoTime{now}; }
    std::chrono::seconds now{1000};
};

class MemoryStore final : public core::Store {
public:
    Task<> save(core::SandboxRecord) override { co_return; }
    Task<std::vector<core::SandboxRecord>> load() override { co_return std::vector<core::SandboxRecord>{}; }
    Task<> forget(std::string) override { co_return; }
    Task<> save_key(core::KeyRecord key) override {
        keys[key.id] = key;
        co_return;
    }
    Task<std::vector<core::KeyRecord>> load_keys() override {
        std::vector<core::KeyRecord> all;
        for (const auto& [id, key] : keys) all.push_back(key);
        co_return all;
    }
    Task<> save_item(std::string, std::string, std::string) override { co_return; }
    Task<> forget_item(std::string, std::string) override { co_return; }
    Task<std::vector<core::StoredItem>> load_items(std::string) override {
        co_return std::vector<core::StoredItem>{};
    }
    std::map<std::string, core::KeyRecord> keys;
};

class KeysTest : public testing::Test {
protected:
    Keys::NewKey make() { return run(keys.create("ci", "acme", 1)); }
    Errc refusal(const std::string& key) { return keys.authenticate(key, "192.0.2.1").error().code(); }

    HandClock clock;
    MemoryStore store;
    Keys keys{clock, store};
};

TEST_F(KeysTest, AKeyMayMakeSoManyRequestsASecondAndAnotherKeyIsNotHurt) {
    for (int request = 0; request < 1000; ++request) ASSERT_TRUE(keys.admit("key_1")) << request;
    const Result<void> refused = keys.admit("key_1");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Errc::exhausted);
    EXPECT_NE(refused.error().message().find("200 requests a second"), std::string::npos);
    EXPECT_TRUE(keys.admit("key_2"));
    clock.now += std::chrono::seconds{1};
    for (int request = 0; request < 200; ++request) ASSERT_TRUE(keys.admit("key_1")) << request;
    EXPECT_FALSE(keys.admit("key_1"));
}

TEST_F(KeysTest, OfRefusalsForHasteOneASecondIsWorthRecording) {
    EXPECT_TRUE(keys.worth_recording("key_1"));
    EXPECT_FALSE(keys.worth_recording("key_1"));
    clock.now += std::chrono::seconds{1};
    EXPECT_TRUE(keys.worth_recording("key_1"));
}

TEST(Sha256, GivesThePublishedDigest) {
    EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_F(KeysTest, ANewKeyLetsItsTenantInWithItsScopes) {
    const Keys::NewKey made = make();
    EXPECT_EQ(made.key.size(), 44u);
    const core::Principal who = keys.authenticate(made.key, "192.0.2.1").value();
    EXPECT_EQ(who.tenant, "acme");
    EXPECT_EQ(who.key_id, made.record.id);
    EXPECT_TRUE(who.may(core::Scope::run));
    EXPECT_FALSE(who.may(core::Scope::admin));
}

TEST_F(KeysTest, TheKeyItselfIsStoredNowhere) {
    const Keys::NewKey made = make();
    for (const auto& [id, record] : store.keys) {
        for (const std::string& text : {record.id, record.hash, record.name}) {
            EXPECT_EQ(text.find(made.key.substr(4)), std::string::npos);
        }
    }
}

TEST_F(KeysTest, WorksAfterARestart) {
    const Keys::NewKey made = make();
    Keys after{clock, store};
    run(after.load());
    EXPECT_TRUE(after.authenticate(made.key, "192.0.2.1"));
}

TEST_F(KeysTest, ARevokedKeyIsRefusedAtOnceAndAfterARestart) {
    const Keys::NewKey made = make();
    run(keys.revoke(made.record.id, "acme"));
    EXPECT_EQ(refusal(made.key), Errc::denied);
    Keys after{clock, store};
    run(after.load());
    EXPECT_FALSE(after.authenticate(made.key, "192.0.2.1"));
}

TEST_F(KeysTest, AnotherTenantsKeyIsUnknown) {
    const Keys::NewKey made = make();
    EXPECT_THROW(run(keys.revoke(made.record.id, "other")), Error);
    EXPECT_TRUE(keys.list("other").empty());
    EXPECT_EQ(keys.list("acme").size(), 1u);
}

TEST_F(KeysTest, RefusesWhatIsNoKey) {
    for (const std::string& key :
         {std::string{}, std::string{"e2b_"}, std::string(10'000, 'a'), std::string{"a\0b", 3}}) {
        EXPECT_FALSE(keys.authenticate(key, "192.0.2.1")) << key.size();
    }
}

TEST_F(KeysTest, TellsAGuesserToWaitForAMinute) {
    const Keys::NewKey made = make();
    for (int n = 0; n < 10; ++n) EXPECT_EQ(refusal("wrong"), Errc::denied) << n;
    EXPECT_EQ(refusal("wrong"), Errc::exhausted);
    EXPECT_TRUE(keys.authenticate(made.key, "192.0.2.1"))
        << "a bad client must not lock out good ones behind its address";
    EXPECT_EQ(keys.authenticate("wrong", "192.0.2.2").error().code(), Errc::denied) << "another address";
    clock.now += std::chrono::seconds{61};
    EXPECT_EQ(refusal("wrong"), Errc::denied);
}

TEST_F(KeysTest, MakesSureThatAGivenKeyExistsOnce) {
    const std::string key = "e2b_0123456789012345678901234567890123456789";
    run(keys.ensure(key, "scripts", "default", 8));
    run(keys.ensure(key, "scripts", "default", 8));
    EXPECT_EQ(keys.list("default").size(), 1u);
    EXPECT_TRUE(keys.authenticate(key, "192.0.2.1").value().may(core::Scope::run)) << "admin includes all";
    run(keys.revoke(keys.list("default")[0].id, "default"));
    run(keys.ensure(key, "scripts", "default", 8));
    EXPECT_TRUE(keys.authenticate(key, "192.0.2.1"));
}

TEST_F(KeysTest, RefusesAGivenKeyThatCouldBeGuessed) {
    EXPECT_THROW(run(keys.ensure("short", "scripts", "default", 8)), Error);
}

}  // namespace
}  // namespace oyat::auth
