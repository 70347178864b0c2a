#include "core/package_book.hpp"

#include <gtest/gtest.h>

#include "core/test_scene.hpp"

namespace oyat::core {
namespace {

using packages::Ecosystem;
using packages::Listing;
using packages::Package;

const Package kRequests{Ecosystem::python, "requests", "2.31.0", "venv/requests.dist-info"};
const Package kPad{Ecosystem::npm, "left-pad", "1.3.0", "app/node_modules/left-pad"};
using Texts = std::vector<std::string>;

TEST(PackageTrail, APackageCameByTheInstallerOfItsEcosystem) {
    PackageTrail trail;
    trail.command_started("ev_1", "pip");
    trail.command_started("ev_2", "npm");
    trail.command_started("ev_3", "");
    EXPECT_EQ(trail.commands(Ecosystem::python), Texts{"ev_1"});
    EXPECT_EQ(trail.commands(Ecosystem::npm), Texts{"ev_2"});
    EXPECT_EQ(trail.commands(Ecosystem::go), Texts{});
}

TEST(PackageTrail, WithoutAnInstallerItCameByWhoeverRanWhenARegistryWasReached) {
    PackageTrail trail;
    trail.command_started("ev_1", "");
    trail.registry_reached("pypi.org");
    trail.command_started("ev_2", "");
    EXPECT_EQ(trail.commands(Ecosystem::python), Texts{"ev_1"});
    EXPECT_EQ(trail.sources(kRequests), Texts{"pypi.org"});
    EXPECT_EQ(trail.sources(kPad), Texts{});
}

TEST(PackageTrail, CommandsThatInstallNothingLeaveNothingToLookFor) {
    PackageTrail trail;
    trail.command_started("ev_1", "");
    trail.command_ended("ev_1");
    EXPECT_FALSE(trail.is_dirty());
    trail.command_started("ev_2", "pip");
    EXPECT_FALSE(trail.is_due());  // it is at it
    trail.command_ended("ev_2");
    EXPECT_TRUE(trail.is_due());
    (void)trail.take();
    EXPECT_FALSE(trail.is_dirty());
}

TEST(PackageTrail, ALookThatFailedIsMadeAgain) {
    PackageTrail trail;
    trail.command_started("ev_1", "pip");
    trail.command_ended("ev_1");
    const PackageTrail taken = trail.take();
    trail.put_back(taken);
    EXPECT_TRUE(trail.is_due());
    EXPECT_EQ(trail.commands(Ecosystem::python), Texts{"ev_1"});
}

TEST(PackageBook, TellsWhatIsNewAndWhatIsGone) {
    PackageBook book;
    EXPECT_EQ(book.take({.packages = {kRequests, kPad}}, {}, {}).added.size(), 2u);
    EXPECT_TRUE(book.take({.packages = {kRequests, kPad}}, {}, {}).empty());
    EXPECT_TRUE(book.take({.packages = {kPad}, .complete = false}, {}, {}).empty());
    const auto change = book.take({.packages = {kPad}}, {}, {});
    ASSERT_EQ(change.removed.size(), 1u);
    EXPECT_EQ(change.removed.front(), kRequests);
}

TEST(PackageBook, IsReadAsItWasKept) {
    PackageTrail trail;
    trail.command_started("ev_1", "pip");
    PackageBook book;
    (void)book.take({.packages = {kRequests}, .odd = 2}, trail, from_unix_millis(5));
    PackageBook again;
    again.restore(book.to_text());
    ASSERT_EQ(again.all().size(), 1u);
    EXPECT_EQ(again.all().front().package, kRequests);
    EXPECT_EQ(again.all().front().commands, Texts{"ev_1"});
    EXPECT_EQ(unix_millis(again.all().front().seen), 5);
    EXPECT_EQ(again.odd(), 2u);
    again.restore("nonsense");
}

RunRequest pip_install() {
    RunRequest request;
    request.argv = {"pip", "install", "requests"};
    return request;
}

Task<> an_install(House& house) {
    const auto [sandbox, inside] = co_await scene(house);
    (void)co_await house.start(*sandbox);
    co_await house.sandboxes->look_for_packages();
    EXPECT_EQ(house.keeper.searches, 0);

    const auto process = co_await house.start(*sandbox, pip_install());
    inside.program(process->pid()).exit(0);
    co_await House::turns();
    house.keeper.found = {.packages = {kRequests}};
    co_await house.sandboxes->look_for_packages();
    const Event* event = house.log.last("package.installed");
    EXPECT_NE(event, nullptr);
    if (event == nullptr) co_return;
    EXPECT_EQ(event->fields.at("name"), "requests");
    EXPECT_EQ(event->fields.at("version"), "2.31.0");
    EXPECT_EQ(event->fields.at("command").as_string(),
              std::string_view{house.log.last("command.requested")->id});

    co_await house.sandboxes->look_for_packages();
    EXPECT_EQ(house.keeper.searches, 1);
    co_await house.restart();
    const auto again = house.sandboxes->find(sandbox->record().id, "default");
    EXPECT_EQ((co_await again->packages()).packages.size(), 1u);
    EXPECT_EQ(house.log.count("package.installed"), 1u);
}
TEST(SandboxPackages, WhatACommandInstalledIsOnTheRecordOnce) {
    in_house(an_install);
}

Task<> an_end(House& house) {
    const auto sandbox = co_await house.create();
    (void)co_await house.start(*sandbox, pip_install());
    house.keeper.found = {.packages = {kRequests}};
    co_await house.sandboxes->kill(sandbox->record().id, House::somebody(), EndedBy::killed);
    EXPECT_EQ(house.log.count("package.installed"), 1u);
    EXPECT_TRUE(house.store.items.empty());
}
TEST(SandboxPackages, ASandboxThatEndsIsLookedThroughOnceMore) {
    in_house(an_end);
}

Task<> a_listing_cut_short(House& house) {
    const auto sandbox = co_await house.create();
    house.keeper.found = {.packages = {kPad}, .complete = false, .odd = 7};
    const SandboxPackages found = co_await sandbox->packages();
    EXPECT_FALSE(found.complete);
    EXPECT_EQ(house.log.last("package.unlisted")->fields.at("odd"), 7);
}
TEST(SandboxPackages, WhatALookDoesNotTakeInIsSaid) {
    in_house(a_listing_cut_short);
}

}  // namespace
}  // namespace oyat::core
