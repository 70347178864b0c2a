#include "agent/account_files.hpp"

#include <gtest/gtest.h>

namespace oyat::agent {
namespace {

constexpr std::string_view kPasswd =
    "root:x:0:0:root:/root:/bin/bash\n"
    "broken line\n"
    "half:x:notanumber:0::/:/bin/sh\n"
    "nobody-can:x:4294967295:0::/:/bin/sh\n"
    "user:x:1000:1001:,,,:/home/user:/bin/zsh\n"
    "user:x:0:0:a second line of the same name:/root:/bin/sh\n"
    "bare:x:7:8:::\n";
constexpr std::string_view kGroup =
    "root:x:0:\n"
    "sudo:x:27:alice,user\n"
    "users:x:1001:\n"
    "again:x:27:user\n"
    "almost:x:28:user2,auser\n"
    "last:x:30:bob,user";

TEST(AccountFiles, TheFirstSoundLineOfANameCounts) {
    const auto user = find_account(kPasswd, "user");
    ASSERT_TRUE(user);
    EXPECT_EQ(user->uid, 1000u);
    EXPECT_EQ(user->gid, 1001u);
    EXPECT_EQ(user->home, "/home/user");
    EXPECT_EQ(user->shell, "/bin/zsh");
}

TEST(AccountFiles, LinesThatMakeNoSenseAreAbsent) {
    for (const char* name : {"", "half", "nobody-can", "broken line", "us", "user:x", "x"}) {
        EXPECT_FALSE(find_account(kPasswd, name)) << name;
    }
}

TEST(AccountFiles, HomeAndShellHaveDefaults) {
    EXPECT_EQ(find_account(kPasswd, "bare")->home, "/");
    EXPECT_EQ(find_account(kPasswd, "bare")->shell, "/bin/sh");
}

TEST(AccountFiles, NumbersHaveNames) {
    EXPECT_EQ(name_of_id(kPasswd, 1000), "user");
    EXPECT_EQ(name_of_id(kGroup, 27), "sudo");
    EXPECT_EQ(name_of_id(kPasswd, 999), "");
    EXPECT_EQ(id_of_group(kGroup, "users"), 1001u);
    EXPECT_FALSE(id_of_group(kGroup, "none"));
}

TEST(AccountFiles, AUserIsInItsPrimaryGroupAndWhereItIsListed) {
    EXPECT_EQ(groups_of(kGroup, "user", 1001), (std::vector<std::uint32_t>{1001, 27, 30}));
    EXPECT_EQ(groups_of(kGroup, "stranger", 5), (std::vector<std::uint32_t>{5}));
}

TEST(AccountFiles, AThousandGroupsAreCutToWhatIsBounded) {
    std::string many;
    for (int i = 0; i < 1000; ++i)
        many += "g" + std::to_string(i) + ":x:" + std::to_string(i + 100) + ":user\n";
    EXPECT_EQ(groups_of(many, "user", 1).size(), kMaxSupplementary);
}

}  // namespace
}  // namespace oyat::agent
