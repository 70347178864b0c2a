#include "store/sqlite_store.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/id.hpp"
#include "io/run.hpp"
#include "io/task_group.hpp"

namespace oyat::store {
namespace {

class SqliteStoreTest : public testing::Test {
protected:
    SqliteStoreTest() { std::filesystem::create_directory(directory_); }
    ~SqliteStoreTest() override { std::filesystem::remove_all(directory_); }

    std::filesystem::path directory_ =
        std::filesystem::temp_directory_path() / ("oyat-store-" + random_hex(8));
    std::string path_ = directory_ / "oyat.db";
};

std::string id(int number) {
    const std::string digits = std::to_string(number);
    return "i" + std::string(20 - digits.size(), '0') + digits;
}

core::SandboxRecord record(int number) {
    core::SandboxRecord r;
    r.id = id(number);
    r.tenant = "acme";
    r.state = core::SandboxState::running;
    r.metadata = {{"task", "one"}};
    return r;
}

TEST_F(SqliteStoreTest, FindsAgainWhatWasSaved) {
    {
        SqliteStore store{path_};
        run(store.save(record(1)));
        run(store.save_key(
            {.id = "key_1", .hash = "aa", .name = "ci", .tenant = "acme", .scopes = 3, .revoked = true}));
    }
    SqliteStore store{path_};
    const auto records = run(store.load());
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(records[0].id, id(1));
    EXPECT_EQ(records[0].metadata.at("task"), "one");
    const auto keys = run(store.load_keys());
    ASSERT_EQ(keys.size(), 1u);
    EXPECT_EQ(keys[0].scopes, 3);
    EXPECT_TRUE(keys[0].revoked);
}

TEST_F(SqliteStoreTest, TheLastSaveOfARecordWins) {
    SqliteStore store{path_};
    run(store.save(record(1)));
    core::SandboxRecord changed = record(1);
    changed.state = core::SandboxState::ended;
    run(store.save(changed));
    EXPECT_EQ(run(store.load()).at(0).state, core::SandboxState::ended);
    run(store.forget(id(1)));
    EXPECT_TRUE(run(store.load()).empty());
}

TEST_F(SqliteStoreTest, KeepsTheItemsOfEachKindApart) {
    {
        SqliteStore store{path_};
        run(store.save_item("secret", "b", "{\"n\":1}"));
        run(store.save_item("secret", "a", "{}"));
        run(store.save_item("secret", "b", "{\"n\":2}"));
        run(store.save_item("policy", "a", "[]"));
        run(store.forget_item("policy", "a"));
    }
    SqliteStore store{path_};
    const auto items = run(store.load_items("secret"));
    ASSERT_EQ(items.size(), 2u);
    EXPECT_EQ(items[0].key, "a");
    EXPECT_EQ(items[1].body, "{\"n\":2}");
    EXPECT_TRUE(run(store.load_items("policy")).empty());
}

TEST_F(SqliteStoreTest, BringsAFileOfTheFirstFormatForward) {
    {
        SqliteStore store{path_};
        run(store.save(record(1)));
    }
    {
        Database database{path_};
        database.execute("DROP TABLE items");
        database.execute("PRAGMA user_version = 1");
    }
    SqliteStore store{path_};
    EXPECT_EQ(run(store.load()).size(), 1u);
    run(store.save_item("policy", "a", "[]"));
    EXPECT_EQ(run(store.load_items("policy")).size(), 1u);
}

TEST_F(SqliteStoreTest, ABurstOfSavesIsKeptWhole) {
    SqliteStore store{path_};
    const auto burst = [](SqliteStore& into) -> Task<> {
        TaskGroup group{co_await boost::asio::this_coro::executor};
        for (int n = 0; n < 200; ++n) group.spawn(into.save(record(n)));
        co_await group.wait_idle();
    };
    run(burst(store));
    EXPECT_EQ(run(store.load()).size(), 200u);
}

TEST_F(SqliteStoreTest, OnlyTheOwnerMayReadTheFile) {
    SqliteStore store{path_};
    run(store.save(record(1)));
    for (const auto& file : std::filesystem::directory_iterator{directory_}) {
        struct stat facts{};
        ASSERT_EQ(::stat(file.path().c_str(), &facts), 0);
        EXPECT_EQ(facts.st_mode & 0777, 0600u) << file.path();
    }
}

// The promise of save(): a killed process loses nothing that was acknowledged.
TEST_F(SqliteStoreTest, WhatWasAcknowledgedSurvivesTheDeathOfItsProcess) {
    const pid_t child = ::fork();
    if (child == 0) {
        SqliteStore store{path_};
        run(store.save(record(1)));
        ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    SqliteStore store{path_};
    EXPECT_EQ(run(store.load()).size(), 1u);
}

TEST_F(SqliteStoreTest, RefusesTheFileOfANewerRelease) {
    {
        SqliteStore store{path_};
    }
    {
        Database database{path_};
        database.execute("PRAGMA user_version = 3");
    }
    try {
        SqliteStore store{path_};
        FAIL() << "opened";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::failed_precondition);
        EXPECT_NE(error.message().find("newer release"), std::string::npos) << error.what();
    }
}

TEST_F(SqliteStoreTest, RefusesAForeignDatabase) {
    {
        Database database{path_};
        database.execute("PRAGMA application_id = 7");
    }
    EXPECT_THROW(SqliteStore{path_}, Error);
}

// In another process, as locks of one's own process never stand in the way.
TEST_F(SqliteStoreTest, TwoServersCannotUseOneState) {
    SqliteStore first{path_};
    run(first.save(record(1)));
    const pid_t child = ::fork();
    if (child == 0) {
        try {
            SqliteStore second{path_};
        } catch (const Error& error) {
            ::_exit(error.code() == Errc::failed_precondition ? 7 : 8);
        }
        ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace
}  // namespace oyat::store
