#include "core/snapshot_name.hpp"
#include "core/test_house.hpp"

namespace oyat::core {
namespace {

using namespace std::chrono_literals;

Task<SnapshotRecord> taken(House& house, std::string id, std::string name = {}) {
    co_return co_await house.sandboxes->make_snapshot(std::move(id), std::move(name), House::somebody());
}

Task<std::shared_ptr<Sandbox>> made_of(House& house, std::string reference) {
    CreateRequest request;
    request.template_ref = std::move(reference);
    return house.create(std::move(request));
}

TEST(SnapshotName, HasATagAndStandsBelowItsTenant) {
    for (const auto& [text, name, tag] :
         {std::tuple{"app", "app", "default"}, std::tuple{"App:V1.2", "app", "v1.2"},
          std::tuple{"acme/a-b_c:x", "a-b_c", "x"}}) {
        const Result<SnapshotName> parsed = SnapshotName::parse(text, "acme");
        ASSERT_TRUE(parsed) << text;
        EXPECT_EQ(parsed->name, name);
        EXPECT_EQ(parsed->tag, tag);
    }
    for (const char* text :
         {"", "a b", "other/app", "a/b/c", "app:", ":v1", "../x", "a.b", "saaaaaaaaaaaaaaaaaaaa"})
        EXPECT_FALSE(SnapshotName::parse(text, "acme")) << text;
    EXPECT_FALSE(SnapshotName::parse(std::string(200, 'a'), "acme"));
}

Task<> from_snapshot(House& house) {
    CreateRequest first;
    first.limits.memory_bytes = 64u << 20;
    first.internet = false;
    const auto source = co_await house.create(first);
    const std::string id = source->record().id;
    const SnapshotRecord snapshot = co_await taken(house, id);
    EXPECT_EQ(source->record().state, SandboxState::running);
    EXPECT_EQ(house.log.last("snapshot.created")->sandbox, id);
    co_await house.sandboxes->kill(id, House::somebody(), EndedBy::killed);  // it needs its source no more

    const auto copy = co_await made_of(house, snapshot.id);
    EXPECT_EQ(copy->record().snapshot, snapshot.id);
    EXPECT_EQ(copy->record().parent, id);
    EXPECT_NE(copy->record().access_token, source->record().access_token);
    EXPECT_EQ(copy->record().limits.memory_bytes, 64u << 20);
    EXPECT_FALSE(copy->record().internet);  // it starts with the document of its source
    EXPECT_EQ(house.log.last("snapshot.used")->sandbox, copy->record().id);
    EXPECT_EQ(house.log.last("sandbox.created")->fields.at("snapshot").as_string(), snapshot.id);
}
TEST(Snapshots, AreWhatSandboxesAreMadeOf) {
    in_house(from_snapshot);
}

Task<> strangers(House& house) {
    const auto source = co_await house.create();
    const SnapshotRecord snapshot = co_await taken(house, source->record().id, "app");
    const Principal stranger = House::somebody("acme");
    for (const std::string& reference : {snapshot.id, std::string{"app"}, std::string{"default/app"}}) {
        EXPECT_EQ((co_await error_of(house.sandboxes->remove_snapshot(reference, stranger))).code(),
                  Errc::not_found);
        CreateRequest request;
        request.template_ref = reference;
        EXPECT_EQ((co_await error_of(house.sandboxes->create(request, stranger))).code(), Errc::not_found);
    }
    EXPECT_TRUE(house.sandboxes->snapshots({.tenant = "acme"}).empty());
    EXPECT_EQ((co_await error_of(house.sandboxes->make_snapshot(source->record().id, "", stranger))).code(),
              Errc::not_found);
    EXPECT_EQ(house.keeper.saved.size(), 1u);
}
TEST(Snapshots, OfAnotherTenantAreNotFound) {  // threats R-08
    in_house(strangers);
}

Task<> names(House& house) {
    const std::string id = (co_await house.create())->record().id;
    const SnapshotRecord old = co_await taken(house, id, "app:v1");
    const SnapshotRecord other = co_await taken(house, id, "app:v2");
    const SnapshotRecord now = co_await taken(house, id, "default/app:v1");
    EXPECT_EQ(house.sandboxes->snapshot("app:v1", "default").id, now.id);
    EXPECT_EQ(house.sandboxes->snapshot(old.id, "default").name, "");
    EXPECT_EQ(house.sandboxes->snapshots({.tenant = "default", .name = "app"}).size(), 2u);
    EXPECT_EQ((co_await error_of(taken(house, id, "base"))).code(), Errc::already_exists);  // a template's
    co_await house.restart();
    EXPECT_EQ(house.sandboxes->snapshot("app:v1", "default").id, now.id);
    EXPECT_EQ((co_await made_of(house, "app:v2"))->record().snapshot, other.id);
    co_await house.sandboxes->remove_snapshot("app:v1", House::somebody());
    EXPECT_EQ((co_await error_of(house.sandboxes->remove_snapshot("app:v1", House::somebody()))).code(),
              Errc::not_found);
    EXPECT_TRUE(house.keeper.saved.contains(old.id) && !house.keeper.saved.contains(now.id));
}
TEST(Snapshots, TakeANameFromTheEarlierOneThatStays) {
    in_house(names);
}

Task<> reconciled(House& house) {
    const std::string id = (co_await house.create())->record().id;
    const SnapshotRecord lost = co_await taken(house, id);
    const SnapshotRecord kept = co_await taken(house, id);
    house.keeper.saved.erase(lost.id);
    (void)co_await house.keeper.make_snapshot(id, false);  // of a fork that we ended in the middle of
    house.store.items[{"snapshot", "snewer"}] = "of a newer release";
    co_await house.restart();
    EXPECT_EQ(house.keeper.saved.size(), 1u);
    EXPECT_TRUE(house.keeper.saved.contains(kept.id));
    EXPECT_EQ(house.sandboxes->snapshots({.tenant = "default"}).size(), 1u);
    EXPECT_TRUE(house.store.items.contains({"snapshot", "snewer"}));
}
TEST(Snapshots, AreBroughtInStepWithTheKeeperAtTheStart) {
    in_house(reconciled);
}

Task<> not_stored(House& house) {
    const std::string id = (co_await house.create())->record().id;
    house.store.fails = true;
    co_await error_of(taken(house, id));
    house.store.fails = false;
    EXPECT_TRUE(house.keeper.saved.empty());
    EXPECT_TRUE(house.sandboxes->snapshots({.tenant = "default"}).empty());
}
TEST(Snapshots, ThatCannotBeRememberedAreNotKept) {
    in_house(not_stored);
}

Task<> full(House& house) {
    const std::string id = (co_await house.create())->record().id;
    co_await taken(house, id);
    const Error refused = co_await error_of(taken(house, id));
    EXPECT_EQ(refused.code(), Errc::exhausted);
    EXPECT_NE(refused.message().find("limit of 1 snapshots"), std::string::npos) << refused.message();
    EXPECT_EQ(house.keeper.saved.size(), 1u);
}
TEST(Snapshots, AreOfALimitedNumber) {
    in_house(full, {.snapshots = {.most = 1}});
}

Task<> aging(House& house) {
    const std::string id = (co_await house.create())->record().id;
    const SnapshotRecord used = co_await taken(house, id, "used");
    const SnapshotRecord idle = co_await taken(house, id);
    const SnapshotRecord kept = co_await taken(house, id);
    co_await house.sandboxes->retain_snapshot(kept.id, Millis{0}, House::somebody());
    house.clock.pass(24h * 29 + 1h);
    co_await made_of(house, "used");
    co_await house.sandboxes->tend_snapshots();
    co_await house.sandboxes->tend_snapshots();
    EXPECT_EQ(house.log.count("snapshot.expiring"), 1u);
    EXPECT_EQ(house.log.last("snapshot.expiring")->fields.at("snapshot").as_string(), idle.id);
    house.clock.pass(24h);
    co_await house.sandboxes->tend_snapshots();
    EXPECT_FALSE(house.keeper.saved.contains(idle.id));
    EXPECT_TRUE(house.keeper.saved.contains(used.id) && house.keeper.saved.contains(kept.id));
    EXPECT_EQ(house.log.last("snapshot.deleted")->fields.at("reason").as_string(), "expired");
}
TEST(Snapshots, ExpireAfterTheirLastUseWithAWarning) {
    in_house(aging);
}

}  // namespace
}  // namespace oyat::core
