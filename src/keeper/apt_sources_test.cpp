#include "keeper/apt_sources.hpp"

#include <gtest/gtest.h>

namespace oyat::keeper {
namespace {

TEST(AptSources, KeepsDebiansOwnSuitesOfTheRelease) {
    AptSources sources{"bookworm"};
    sources.add_one_line_file(
        "deb [signed-by=/usr/share/keyrings/x.gpg arch=amd64] http://mirror.example/debian bookworm main "
        "contrib\n"
        "deb http://mirror.example/debian-security bookworm-security main # fixes\n"
        "deb-src http://mirror.example/debian bookworm main\n"
        "deb https://vendor.example/apt bookworm stable\n"
        "deb https://vendor.example/apt stable main\n"
        "deb http://mirror.example/debian trixie main\n"
        "# deb http://old.example/debian bookworm main\n");
    EXPECT_EQ(sources.lines(),
              "deb http://mirror.example/debian bookworm main contrib\n"
              "deb http://mirror.example/debian-security bookworm-security main\n");
}

TEST(AptSources, ReadsDeb822Stanzas) {
    AptSources sources{"bookworm"};
    sources.add_deb822_file(
        "Types: deb\n# a comment\nURIs: http://mirror.example/debian\nSuites: bookworm\n bookworm-updates\n"
        "Components: main non-free-firmware\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n\n"
        "Types: deb\nEnabled: no\nURIs: http://off.example/debian\nSuites: bookworm\nComponents: main\n");
    EXPECT_EQ(sources.lines(),
              "deb http://mirror.example/debian bookworm main non-free-firmware\n"
              "deb http://mirror.example/debian bookworm-updates main non-free-firmware\n");
}

TEST(AptSources, LeavesOutAMirrorWithAPassword) {
    AptSources sources{"bookworm"};
    sources.add_one_line_file("deb http://me:word@mirror.example/debian bookworm main\n");
    EXPECT_EQ(sources.lines(), "");
}

TEST(AptSources, ListsTheSameEntryOnce) {
    AptSources sources{"bookworm"};
    for (int twice = 0; twice < 2; ++twice)
        sources.add_one_line_file("deb http://mirror.example/debian bookworm main\n");
    EXPECT_EQ(sources.lines(), "deb http://mirror.example/debian bookworm main\n");
}

TEST(AptSources, FindsTheRelease) {
    EXPECT_EQ(release_in("ID=debian\nVERSION_CODENAME=bookworm\n"), "bookworm");
    EXPECT_EQ(release_in("VERSION_CODENAME=\"trixie\"\n"), "trixie");
    EXPECT_EQ(release_in("VERSION_CODENAME=../x\n"), "");
    EXPECT_EQ(release_in("ID=alpine\n"), "");
}

}  // namespace
}  // namespace oyat::keeper
