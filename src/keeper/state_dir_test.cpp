#include "keeper/state_dir.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"

namespace oyat::keeper {
namespace {

class StateDirTest : public testing::Test {
protected:
    ~StateDirTest() override { std::filesystem::remove_all(dir_); }

    static std::string make_dir() {
        std::string name = "/tmp/oyat-state-XXXXXX";
        return ::mkdtemp(name.data());
    }

    std::string dir_ = make_dir();
};

TEST_F(StateDirTest, KeepsItsIdForEver) {
    const std::string first = StateDir{dir_}.id();
    EXPECT_EQ(first.size(), 6U);
    EXPECT_EQ(StateDir{dir_}.id(), first);
}

TEST_F(StateDirTest, IsClosedToEverybodyElse) {
    const StateDir state{dir_};
    EXPECT_EQ(std::filesystem::status(state.path()).permissions(), std::filesystem::perms::owner_all);
}

TEST_F(StateDirTest, RefusesAStateOfALaterRelease) {
    {
        const StateDir made{dir_};
    }
    std::ofstream{dir_ + "/keeper/format"} << "2";
    EXPECT_THROW(StateDir{dir_}, Error);
}

}  // namespace
}  // namespace oyat::keeper
