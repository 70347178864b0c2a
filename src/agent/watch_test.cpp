#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>

#include "agent/test_host.hpp"
#include "base/error.hpp"

namespace oyat::agent {
namespace {

namespace fs = std::filesystem;
using testing::RunningAgent;
using testing::TestHost;
using wire::FrameKind;
using wire::WatchKind;

class AgentWatch : public ::testing::Test {
protected:
    AgentWatch() { fs::create_directory(dir); }

    void watch(bool recursive, bool with_entry = false) {
        wire::Request request;
        request.watch = wire::Watch{.path = dir, .recursive = recursive, .with_entry = with_entry};
        stream = host.open(request);
        host.until([&] { return !host.heard(stream).events.empty() || host.heard(stream).end; });
        ASSERT_FALSE(host.heard(stream).end);
    }
    void put(const std::string& name, std::string_view content = "x") {
        std::ofstream{dir + "/" + name} << content;
    }
    bool saw(WatchKind kind, const std::string& name) {
        return std::ranges::any_of(host.heard(stream).changes(), [&](const wire::WatchChange& change) {
            return change.kind == kind && change.name == name;
        });
    }
    void await(WatchKind kind, const std::string& name) {
        SCOPED_TRACE(name);
        host.until([&] { return saw(kind, name); });
    }
    // Everything before this has been reported.
    void settle() {
        static int count = 0;
        const std::string name = "settled" + std::to_string(count++);
        put(name);
        await(WatchKind::create, name);
    }

    RunningAgent agent;
    TestHost host{agent};
    std::string dir = agent.directory() + "/watched";
    std::uint32_t stream = 0;
};

TEST_F(AgentWatch, ReportsWhatHappensInADirectory) {
    put("old");
    watch(false);
    put("f");
    fs::permissions(dir + "/f", fs::perms::owner_all);
    fs::rename(dir + "/f", dir + "/g");
    fs::remove(dir + "/g");
    await(WatchKind::create, "f");
    await(WatchKind::write, "f");
    await(WatchKind::chmod, "f");
    await(WatchKind::rename, "f");
    await(WatchKind::create, "g");
    await(WatchKind::remove, "g");
    EXPECT_FALSE(saw(WatchKind::create, "old"));
    host.send(FrameKind::cancel, stream);
    host.until_end(stream);
    EXPECT_EQ(host.heard(stream).end->code, static_cast<std::uint32_t>(Errc::canceled) + 1);
}

TEST_F(AgentWatch, WithoutRecursionStaysInTheDirectory) {
    watch(false);
    fs::create_directory(dir + "/sub");
    put("sub/f");
    settle();
    EXPECT_TRUE(saw(WatchKind::create, "sub"));
    EXPECT_FALSE(saw(WatchKind::create, "sub/f"));
}

TEST_F(AgentWatch, FollowsATreeThatIsMadeAtOnce) {
    watch(true);
    fs::create_directories(dir + "/a/b/c/d");
    put("a/b/c/d/f.txt");
    await(WatchKind::create, "a/b/c/d/f.txt");
    put("a/b/c/later");
    await(WatchKind::create, "a/b/c/later");
    settle();
    const auto changes = host.heard(stream).changes();
    EXPECT_EQ(
        std::ranges::count_if(changes.begin(), changes.end(),
                              [](const auto& c) { return c.kind == WatchKind::create && c.name == "a/b"; }),
        1);
}

TEST_F(AgentWatch, FollowsWhatWasThereBefore) {
    fs::create_directories(dir + "/x/y/z");
    watch(true);
    put("x/y/z/f");
    await(WatchKind::create, "x/y/z/f");
}

TEST_F(AgentWatch, ARenamedDirectoryIsReportedUnderItsNewName) {
    fs::create_directories(dir + "/old/deep");
    watch(true);
    fs::rename(dir + "/old", dir + "/new");
    await(WatchKind::rename, "old");
    await(WatchKind::create, "new");
    put("new/deep/g");
    await(WatchKind::create, "new/deep/g");
    EXPECT_FALSE(saw(WatchKind::create, "old/deep/g"));
    EXPECT_FALSE(saw(WatchKind::create, "new/deep")) << "nothing in it is news";
}

TEST_F(AgentWatch, ADirectoryThatIsMovedOutIsNotWatchedAnyMore) {
    const std::string outside = agent.directory() + "/outside";
    fs::create_directories(dir + "/sub/deep");
    watch(true);
    fs::rename(dir + "/sub", outside);
    await(WatchKind::rename, "sub");
    settle();
    std::ofstream{outside + "/deep/h"} << "h";
    settle();
    for (const auto& change : host.heard(stream).changes())
        EXPECT_EQ(change.name.find("/h"), std::string::npos);
    fs::rename(outside, dir + "/back");
    await(WatchKind::create, "back/deep/h");
}

TEST_F(AgentWatch, LosesNothingOfABurst) {
    constexpr int kFiles = 4000;
    fs::create_directory(dir + "/burst");
    watch(true);
    for (int i = 0; i < kFiles; ++i) put("burst/f" + std::to_string(i));
    host.until([&] {
        std::set<std::string> names;
        for (const auto& change : host.heard(stream).changes()) {
            if (change.kind == WatchKind::create) names.insert(change.name);
        }
        return names.size() == kFiles;
    });
}

TEST_F(AgentWatch, SurvivesTheEndOfWhatItWatches) {
    fs::create_directories(dir + "/a/b");
    watch(true);
    fs::remove_all(dir);
    await(WatchKind::remove, "a");
    await(WatchKind::remove, ".");
    EXPECT_FALSE(host.heard(stream).end);
    EXPECT_EQ(host.shell("echo alive").out(), "alive\n");
}

TEST_F(AgentWatch, BringsTheEntryAlongWhenAsked) {
    watch(true, true);
    fs::create_directory(dir + "/d");
    put("d/f", "123");
    await(WatchKind::create, "d/f");
    for (const auto& change : host.heard(stream).changes()) {
        if (change.kind != WatchKind::create || change.name != "d/f") continue;
        ASSERT_TRUE(change.entry);
        EXPECT_EQ(change.entry->path, dir + "/d/f");
        EXPECT_EQ(change.entry->type, wire::FileType::file);
    }
}

TEST_F(AgentWatch, RefusesWhatIsNoDirectory) {
    put("f");
    wire::Request request;
    request.watch = wire::Watch{.path = dir + "/f"};
    EXPECT_EQ(host.ask(request).end->code, static_cast<std::uint32_t>(Errc::invalid_argument) + 1);
    request.watch = wire::Watch{.path = dir + "/none"};
    EXPECT_EQ(host.ask(request).end->code, static_cast<std::uint32_t>(Errc::not_found) + 1);
}

TEST_F(AgentWatch, SixtyFourAreEnough) {
    wire::Request request;
    request.watch = wire::Watch{.path = dir};
    std::uint32_t last = 0;
    for (int i = 0; i < 64; ++i) last = host.open(request);
    EXPECT_EQ(host.ask(request).end->code, static_cast<std::uint32_t>(Errc::exhausted) + 1);
    host.send(FrameKind::cancel, last);
    host.until_end(last);
    const auto again = host.open(request);
    host.until([&] { return !host.heard(again).events.empty(); });
}

// Names and paths are as long as whoever is watched likes.
TEST_F(AgentWatch, WhatTheHostDoesNotTakeIsNotHoarded) {
    std::string deep = dir;
    while (deep.size() < 3500) deep += "/" + std::string(200, 'd');
    fs::create_directories(deep);
    host.set_credit(TestHost::Credit::never);
    watch(true, true);
    for (int i = 0; i < 4'000; ++i) {
        const std::string path = deep + "/" + std::string(200, 'f') + std::to_string(i);
        ::close(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
        if (i % 100 == 0) host.shell("true");
    }
    EXPECT_EQ(host.shell("echo meanwhile").out(), "meanwhile\n");
    EXPECT_LT(agent.rss_kib(), 16 * 1024u);  // all of them are 32 MiB
}

TEST_F(AgentWatch, CommandsAnswerWhileALargeDirectoryMovesIn) {
    constexpr int kFiles = 20'000;
    const std::string large = agent.directory() + "/large";
    fs::create_directory(large);
    for (int i = 0; i < kFiles; ++i)
        ::close(::open((large + "/f" + std::to_string(i)).c_str(), O_CREAT | O_CLOEXEC, 0600));
    watch(true, true);
    fs::rename(large, dir + "/large");
    std::chrono::steady_clock::duration worst{};
    std::size_t created = 0;
    std::size_t from = 0;
    while (created < kFiles + 1) {
        const auto before = std::chrono::steady_clock::now();
        host.shell("true");
        worst = std::max(worst, std::chrono::steady_clock::now() - before);
        const auto& changes = host.heard(stream).changes();
        for (; from < changes.size(); ++from) created += changes[from].kind == WatchKind::create ? 1 : 0;
        ASSERT_FALSE(host.heard(stream).end);
    }
    EXPECT_LT(worst, std::chrono::milliseconds{250});
}

}  // namespace
}  // namespace oyat::agent
