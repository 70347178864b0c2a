#include "packages/finder.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/fd.hpp"
#include "base/throwing.hpp"

namespace oyat::packages {
namespace {

namespace fs = std::filesystem;

class PackageFinder : public ::testing::Test {
protected:
    PackageFinder() {
        char name[] = "/tmp/oyat-packages-XXXXXX";
        root_ = ::mkdtemp(name);
    }
    ~PackageFinder() override { fs::remove_all(root_); }

    void write(const std::string& path, std::string_view text) {
        fs::create_directories((root_ / path).parent_path());
        std::ofstream{root_ / path} << text;
    }
    [[nodiscard]] Listing find(const DebianSet& shipped = {}, const SearchLimits& limits = {}) const {
        const Fd root{sys(::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open")};
        return find_packages(root.get(), shipped, limits);
    }
    // "npm a 1 at PATH", one a line.
    [[nodiscard]] std::string names() const {
        std::string all;
        for (const Package& each : find().packages) {
            all.append(to_string(each.ecosystem)).append(" ").append(each.name).append(" ");
            all.append(each.version).append("\n");
        }
        return all;
    }

    fs::path root_;
};

TEST_F(PackageFinder, FindsWhatPackageManagersLeave) {
    write("tmp/venv/lib/python3.11/site-packages/requests-2.31.0.dist-info/METADATA",
          "Name: requests\nVersion: 2.31.0\n");
    write("app/node_modules/a/package.json", R"({"name":"a","version":"1.0.0"})");
    write("app/node_modules/a/node_modules/b/package.json", R"({"name":"b","version":"2.0.0"})");
    write("app/node_modules/@s/c/package.json", R"({"name":"@s/c","version":"3.0.0"})");
    write("root/.cargo/registry/cache/index/itoa-1.0.9.crate", "x");
    write("root/go/pkg/mod/cache/download/golang.org/x/text/@v/v0.3.0.zip", "x");
    EXPECT_EQ(names(),
              "python requests 2.31.0\nnpm @s/c 3.0.0\nnpm a 1.0.0\nnpm b 2.0.0\ncargo itoa 1.0.9\n"
              "go golang.org/x/text v0.3.0\n");
    EXPECT_TRUE(find().complete);
}

TEST_F(PackageFinder, TellsDebiansNewPackagesFromThoseOfTheTemplate) {
    const std::string stanza = "Status: install ok installed\nVersion: 1\n\n";
    write("var/lib/dpkg/status", "Package: base-files\n" + stanza + "Package: curl\n" + stanza);
    ASSERT_EQ(find({"base-files 1"}).packages.size(), 1u);
    EXPECT_EQ(find({"base-files 1"}).packages.front().name, "curl");
    const Fd root{sys(::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open")};
    EXPECT_EQ(installed_debian(root.get()), (DebianSet{"base-files 1", "curl 1"}));
}

TEST_F(PackageFinder, WhatAPackageHoldsIsNotAPackage) {
    write("app/node_modules/a/package.json", R"({"name":"a","version":"1.0.0"})");
    write("app/node_modules/a/test/fixtures/x.dist-info/METADATA", "Name: x\nVersion: 1\n");
    EXPECT_EQ(names(), "npm a 1.0.0\n");
}

// Threats: a link from inside must not lead to a file of the host.
TEST_F(PackageFinder, FollowsNoLink) {
    write("elsewhere/METADATA", "Name: secret\nVersion: 1\n");
    write("elsewhere/a/package.json", R"({"name":"secret","version":"1"})");
    fs::create_directories(root_ / "site");
    fs::create_symlink(root_ / "elsewhere", root_ / "site/one.dist-info");
    fs::create_directories(root_ / "site/two.dist-info");
    fs::create_symlink(root_ / "elsewhere/METADATA", root_ / "site/two.dist-info/METADATA");
    fs::create_symlink("/etc/passwd", root_ / "site/three.egg-info");
    fs::create_symlink(root_ / "elsewhere", root_ / "node_modules");
    EXPECT_EQ(names(), "");
}

TEST_F(PackageFinder, OpensNothingThatWouldKeepItWaiting) {
    fs::create_directories(root_ / "site/a.dist-info");
    ASSERT_EQ(::mkfifo((root_ / "site/a.dist-info/METADATA").c_str(), 0600), 0);
    EXPECT_EQ(names(), "");
}

TEST_F(PackageFinder, AFileOfAGigabyteIsReadAtItsBeginning) {
    write("site/a.dist-info/METADATA", "Name: a\nVersion: 1\n\n");
    fs::resize_file(root_ / "site/a.dist-info/METADATA", 1u << 30);
    EXPECT_EQ(names(), "python a 1\n");
}

TEST_F(PackageFinder, NamesThatAreNoneAreCounted) {
    write("node_modules/a/package.json", "{\"name\":\"evil\\nname\",\"version\":\"1\"}");
    const Listing found = find();
    EXPECT_TRUE(found.packages.empty());
    EXPECT_EQ(found.odd, 1u);
}

// A deep tree must not hide what stands beside it.
TEST_F(PackageFinder, WhatIsTooDeepIsLeftOutAlone) {
    std::string deep = "a";
    for (int i = 0; i < 70; ++i) deep += "/d";
    fs::create_directories(root_ / deep);
    write("node_modules/p/package.json", R"({"name":"p","version":"1"})");
    EXPECT_EQ(names(), "npm p 1\n");
    EXPECT_FALSE(find().complete);
}

TEST_F(PackageFinder, GivesUpWhereALimitIsReached) {
    for (int i = 0; i < 20; ++i)
        write("node_modules/p" + std::to_string(i) + "/package.json", R"({"name":"p","version":"1"})");
    EXPECT_TRUE(find().complete);
    EXPECT_EQ(find({}, {.packages = 5}).packages.size(), 5u);
    for (const SearchLimits& limits : {SearchLimits{.entries = 10}, SearchLimits{.packages = 5},
                                       SearchLimits{.depth = 1}, SearchLimits{.bytes = 40}}) {
        EXPECT_FALSE(find({}, limits).complete);
    }
}

}  // namespace
}  // namespace oyat::packages
