#include <gtest/gtest.h>

#include <boost/json/object.hpp>

#include "core/test_scene.hpp"

namespace oyat::core {
namespace {

RunRequest pip_install() {
    RunRequest request;
    request.argv = {"/bin/bash", "-l", "-c", "pip install requests"};
    return request;
}

Task<std::shared_ptr<Sandbox>> with_window(House& house) {
    CreateRequest request;
    request.policy = {{"default", "allow"}, {"install_window", true}};
    co_return co_await house.create(std::move(request));
}

bool is_narrowed(House& house, const Sandbox& sandbox) {
    return house.egress.attached.at(sandbox.record().id)->install_window.has_value();
}

Task<> a_window(House& house) {
    const auto sandbox = co_await with_window(house);
    FakeInside& inside = house.keeper.inside(sandbox->record().id);
    const auto other = co_await house.start(*sandbox);
    EXPECT_FALSE(is_narrowed(house, *sandbox));

    const auto process = co_await house.start(*sandbox, pip_install());
    EXPECT_TRUE(is_narrowed(house, *sandbox));
    EXPECT_EQ(house.log.last("install.window")->fields.at("state"), "opened");
    inside.program(process->pid()).exit(0);
    co_await House::turns();
    EXPECT_FALSE(is_narrowed(house, *sandbox));
    EXPECT_EQ(house.log.last("install.window")->fields.at("state"), "closed");
}
TEST(InstallWindow, IsOpenWhileACommandInstalls) {
    in_house(a_window);
}

Task<> a_failed_start(House& house) {
    const auto sandbox = co_await with_window(house);
    house.keeper.inside(sandbox->record().id).spawn_fails = Error{Errc::not_found, "no such program"};
    (void)co_await error_of(house.start(*sandbox, pip_install()));
    EXPECT_FALSE(is_narrowed(house, *sandbox));
}
TEST(InstallWindow, ClosesWhenTheCommandNeverBegan) {
    in_house(a_failed_start);
}

Task<> a_restart(House& house) {
    const auto sandbox = co_await with_window(house);
    const std::string id = sandbox->record().id;
    const auto process = co_await house.start(*sandbox, pip_install());
    EXPECT_TRUE(house.store.records.at(id).installing);
    co_await house.restart();
    EXPECT_TRUE(house.egress.attached.at(id)->install_window.has_value());
    house.keeper.inside(id).program(process->pid()).exit(0);
    co_await House::turns();
    EXPECT_FALSE(house.egress.attached.at(id)->install_window.has_value());
}
TEST(InstallWindow, HoldsOverARestart) {
    in_house(a_restart);
}

Task<> a_policy_without(House& house) {
    const auto sandbox = co_await house.create();
    const std::uint64_t generation = sandbox->record().policy_generation;
    (void)co_await house.start(*sandbox, pip_install());
    EXPECT_FALSE(is_narrowed(house, *sandbox));
    EXPECT_EQ(sandbox->record().policy_generation, generation);
    EXPECT_EQ(house.log.count("install.window"), 0u);
}
TEST(InstallWindow, IsNotThereUnlessAPolicyWantsIt) {
    in_house(a_policy_without);
}

}  // namespace
}  // namespace oyat::core
