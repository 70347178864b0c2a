#include "core/test_house.hpp"

namespace oyat::core {
namespace {

using namespace std::chrono_literals;

Task<> forked(House& house) {
    CreateRequest request;
    request.env = {{"NAME", "value"}};
    request.metadata = {{"job", "42"}};
    request.usual_reach = Reach::token;
    request.internet = false;
    const auto source = co_await house.create(request);
    const SandboxRecord& of = source->record();
    const std::vector<Fork> forks =
        co_await house.sandboxes->fork(of.id, {.count = 3, .timeout = 60s}, House::somebody());
    EXPECT_EQ(forks.size(), 3u);
    std::set<std::string> ids{of.id}, tokens{of.access_token, of.exposure.token};
    for (const Fork& fork : forks) {
        if (!fork.sandbox) {
            ADD_FAILURE() << fork.error->message();
            co_return;
        }
        const SandboxRecord& record = fork.sandbox->record();
        ids.insert(record.id);
        tokens.insert(record.access_token);
        tokens.insert(record.exposure.token);
        EXPECT_EQ(record.parent, of.id);
        EXPECT_EQ(record.end_at, house.clock.wall() + 60s);
        EXPECT_EQ(record.env, of.env);
        EXPECT_EQ(record.metadata, of.metadata);
        EXPECT_EQ(record.exposure.usual, Reach::token);
        EXPECT_FALSE(record.internet);
    }
    EXPECT_EQ(ids.size(), 4u);
    EXPECT_EQ(tokens.size(), 8u);
    EXPECT_EQ(of.state, SandboxState::running);
    EXPECT_TRUE(house.keeper.saved.empty());  // what it was made with is not kept
    EXPECT_EQ(house.log.last("sandbox.forked")->fields.at("children").as_array().size(), 3u);
    EXPECT_FALSE(house.log.last("sandbox.forked")->fields.at("memory").as_bool());
}
TEST(Fork, MakesCopiesWithNewIdsAndTokens) {  // threats R-04
    in_house(forked);
}

Task<> half_of_them(House& house) {
    const std::string id = (co_await house.create())->record().id;
    const std::vector<Fork> forks = co_await house.sandboxes->fork(id, {.count = 100}, House::somebody());
    std::size_t made = 0;
    for (const Fork& fork : forks) {
        made += fork.sandbox ? 1 : 0;
        if (!fork.sandbox) EXPECT_NE(fork.error->message().find("limit of 51"), std::string::npos);
    }
    EXPECT_EQ(made, 50u);
    EXPECT_EQ(house.keeper.boxes.size(), 51u);
}
TEST(Fork, OfMoreThanThereIsRoomForMakesAsManyAsThereIs) {
    in_house(half_of_them, {.max_sandboxes = 51});
}

Task<> refused(House& house) {
    const std::string id = (co_await house.create())->record().id;
    for (const std::uint32_t count : {0u, 101u}) {
        EXPECT_EQ((co_await error_of(house.sandboxes->fork(id, {.count = count}, House::somebody()))).code(),
                  Errc::invalid_argument);
    }
    EXPECT_EQ((co_await error_of(house.sandboxes->fork(id, {}, House::somebody("acme")))).code(),
              Errc::not_found);
    co_await house.sandboxes->pause(id, Keep::memory, House::somebody());
    EXPECT_EQ((co_await error_of(house.sandboxes->fork(id, {}, House::somebody()))).code(),
              Errc::failed_precondition);
    EXPECT_EQ(house.keeper.boxes.size(), 1u);
}
TEST(Fork, IsOfARunningSandboxAndOfOneToAHundred) {
    in_house(refused);
}

Task<> reset_story(House& house) {
    const auto sandbox = co_await house.create();
    const std::string id = sandbox->record().id;
    const SandboxRecord before = sandbox->record();
    const auto process = co_await house.start(*sandbox);
    const SnapshotRecord snapshot = co_await house.sandboxes->make_snapshot(id, "", House::somebody());
    co_await house.sandboxes->reset(id, "", House::somebody());
    EXPECT_EQ(sandbox->record().state, SandboxState::running);
    EXPECT_EQ(sandbox->record().access_token, before.access_token);
    EXPECT_EQ(sandbox->record().end_at, before.end_at);
    EXPECT_NE(sandbox->record().generation, before.generation);
    EXPECT_TRUE(process->end());
    EXPECT_TRUE(sandbox->processes().alive().empty());
    EXPECT_TRUE(house.egress.attached.contains(id));
    co_await house.start(*sandbox);  // it takes commands again
    co_await house.sandboxes->reset(id, snapshot.id, House::somebody());
    EXPECT_EQ(house.keeper.resets, (std::vector<std::string>{"", snapshot.id}));
    EXPECT_EQ(sandbox->record().snapshot, snapshot.id);
    EXPECT_EQ((co_await error_of(house.sandboxes->reset(id, "nothing", House::somebody()))).code(),
              Errc::not_found);
}
TEST(Reset, KeepsWhoASandboxIsAndNothingThatItHas) {
    in_house(reset_story);
}

}  // namespace
}  // namespace oyat::core
