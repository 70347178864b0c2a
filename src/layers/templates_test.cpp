#include "layers/templates.hpp"

#include <gtest/gtest.h>
#include <sys/xattr.h>

#include "layers/test_templates.hpp"

namespace oyat::layers {
namespace {

TEST_F(TemplatesTest, AnImportedTreeIsFoundByNameAndDigest) {
    const TemplateMeta meta = or_throw(import(tar(kTree), "base"));
    EXPECT_TRUE(is_digest(meta.digest));
    EXPECT_EQ(meta.files, 7U);  // home itself is nobody's entry, and is made
    EXPECT_EQ(templates_->find("base")->digest, meta.digest);
    EXPECT_EQ(templates_->find(meta.digest)->name, "base");
    EXPECT_EQ(templates_->list().size(), 1U);
    EXPECT_FALSE(templates_->find("other"));
}

TEST_F(TemplatesTest, OwnersModesLinksAndAttributesAreRestored) {
    const TemplateMeta meta = or_throw(import(tar(kTree)));
    const Fd root = std::move(templates_->layers(meta.digest).at(0));
    struct stat tool{};
    struct stat same{};
    struct stat user{};
    ASSERT_EQ(::fstatat(root.get(), "bin/tool", &tool, 0), 0);
    ASSERT_EQ(::fstatat(root.get(), "bin/same", &same, 0), 0);
    ASSERT_EQ(::fstatat(root.get(), "home/user", &user, 0), 0);
    EXPECT_EQ(tool.st_mode, S_IFREG | 04755U);
    EXPECT_EQ(tool.st_ino, same.st_ino);
    EXPECT_EQ(user.st_uid, 1000U);
    EXPECT_EQ(user.st_mode, S_IFDIR | 0700U);
    const Fd file{::openat(root.get(), "home/user/f\xc5\x91", O_RDONLY | O_CLOEXEC)};
    char value = 0;
    EXPECT_EQ(::fgetxattr(file.get(), "user.k", &value, 1), 1);
}

TEST_F(TemplatesTest, ARoundTripKeepsTheDigest) {
    const TemplateMeta first = or_throw(import(tar(kTree)));
    const std::string path = dir_ + "/exported";
    Fd out{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
    const TemplateMeta exported = or_throw(outcome_of(*templates_->export_to(first.digest, std::move(out))));
    EXPECT_EQ(exported.digest, first.digest);
    templates_->remove(first.digest);
    EXPECT_FALSE(templates_->find("t"));
    const TemplateMeta second =
        or_throw(import(Fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)}, "t", first.digest));
    EXPECT_EQ(second.digest, first.digest);
}

TEST_F(TemplatesTest, OneThatIsBeingExportedIsNotRemoved) {
    const TemplateMeta meta = or_throw(import(tar(kTree)));
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);  // which nobody reads
    const Fd read_end{ends[0]};
    std::unique_ptr<Job> job = templates_->export_to(meta.digest, Fd{ends[1]});
    EXPECT_THROW(templates_->remove(meta.digest), Error);
    EXPECT_TRUE(templates_->find("t"));
    job.reset();
    templates_->remove(meta.digest);
    EXPECT_TRUE(templates_->list().empty());
}

TEST_F(TemplatesTest, AllUsualCompressionsAreRead) {
    for (const auto& filter : std::vector<std::function<int(archive*)>>{
             archive_write_add_filter_none, archive_write_add_filter_gzip, archive_write_add_filter_xz,
             archive_write_add_filter_zstd}) {
        const Result<TemplateMeta> outcome = import(tar(kTree, filter));
        EXPECT_TRUE(outcome) << outcome.error().message();
    }
    EXPECT_EQ(templates_->list().size(), 1U);  // one content, one template
}

TEST_F(TemplatesTest, AnotherDigestThanExpectedIsRefused) {
    const std::string expected = "sha256:" + std::string(64, '0');
    EXPECT_FALSE(import(tar(kTree), "t", expected));
    EXPECT_TRUE(templates_->list().empty());
    EXPECT_TRUE(nothing_unfinished());
}

// Threats F-07 and J-04: one entry against the rules, and nothing is left of the archive.
TEST_F(TemplatesTest, HostileArchivesAreRefusedWhole) {
    const std::vector<std::pair<const char*, std::vector<TarEntry>>> cases{
        {"dot dot", {{.path = "ok", .content = "x"}, {.path = "../escaped", .content = "x"}}},
        {"dot dot inside", {{.path = "a/../../escaped", .content = "x"}}},
        {"absolute", {{.path = "/escaped", .content = "x"}}},
        {"character device", {{.path = "null", .mode = S_IFCHR | 0666U, .content = ""}}},
        {"block device", {{.path = "disk", .mode = S_IFBLK | 0600U, .content = ""}}},
        {"through a symlink",
         {{.path = "l", .mode = S_IFLNK | 0777U, .content = "/var"}, {.path = "l/escaped", .content = "x"}}},
        {"hard link to outside", {{.path = "h", .content = "../../etc/passwd", .hard_link = true}}},
        {"hard link to nothing", {{.path = "h", .content = "etc/shadow", .hard_link = true}}},
        {"hard link through a symlink",
         {{.path = "l", .mode = S_IFLNK | 0777U, .content = "/etc"},
          {.path = "h", .content = "l/passwd", .hard_link = true}}},
        {"overlay attribute",
         {{.path = "d", .mode = S_IFDIR | 0755U, .content = "", .xattr = "trusted.overlay.opaque"}}},
        {"owner out of range", {{.path = "f", .content = "x", .uid = 0x70000000}}},
        {"the root as a file", {{.path = "./", .content = "x"}}},
        {"empty", {}},
    };
    for (const auto& [what, entries] : cases) {
        const std::string why = reason(entries);
        EXPECT_NE(why, "accepted") << what;
        EXPECT_EQ(why.find("confine"), std::string::npos) << what;
        EXPECT_TRUE(templates_->list().empty()) << what;
        EXPECT_FALSE(std::filesystem::exists(dir_ + "/templates/escaped")) << what;
        EXPECT_FALSE(std::filesystem::exists("/var/escaped")) << what;
        EXPECT_FALSE(std::filesystem::exists("/escaped")) << what;
    }
    EXPECT_TRUE(nothing_unfinished());
}

TEST_F(TemplatesTest, ADecompressionBombIsRefused) {
    const std::vector<TarEntry> bomb{{.path = "zeros", .content = std::string(64 << 20, '\0')}};
    const Result<TemplateMeta> outcome = import(tar(bomb, archive_write_add_filter_zstd));
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code(), Errc::exhausted) << outcome.error().message();
}

TEST_F(TemplatesTest, RubbishAndTruncationAreRefused) {
    const std::string path = dir_ + "/rubbish";
    std::ofstream{path} << std::string(100'000, 'r');
    EXPECT_FALSE(import(Fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)}));
    (void)tar({{.path = "f", .content = std::string(100'000, 'x')}});
    ASSERT_EQ(::truncate((dir_ + "/archive").c_str(), 50'000), 0);
    EXPECT_FALSE(import(Fd{::open((dir_ + "/archive").c_str(), O_RDONLY | O_CLOEXEC)}));
}

TEST_F(TemplatesTest, AJobThatIsGivenUpLeavesNothing) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);  // an archive that never comes
    const Fd write_end{ends[1]};
    {
        const std::unique_ptr<Job> job = templates_->import("t", "", Fd{ends[0]});
    }
    EXPECT_TRUE(nothing_unfinished());
    EXPECT_TRUE(templates_->list().empty());
}

TEST_F(TemplatesTest, WhatACrashLeftIsRemovedAtTheNextStart) {
    std::filesystem::create_directories(dir_ + "/templates/new-dead/root/a/b");
    std::filesystem::create_directories(dir_ + "/templates/gone-dead/root");
    templates_.emplace(dir_ + "/templates");
    EXPECT_TRUE(nothing_unfinished());
}

TEST_F(TemplatesTest, NamesAndDigestsThatCouldBePathsAreRefused) {
    for (const char* name : {"../x", "a/b", "A", "a b"}) {
        EXPECT_THROW((void)templates_->import(name, "", Fd{}), Error) << name;
        EXPECT_FALSE(templates_->find(name)) << name;
    }
    EXPECT_FALSE(templates_->find("sha256:../../etc"));
    EXPECT_THROW((void)templates_->layers("sha256:zz"), Error);
}

}  // namespace
}  // namespace oyat::layers
