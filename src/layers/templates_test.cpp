#include "layers/templates.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <functional>

#include "base/throwing.hpp"
#include "layers/test_machine.hpp"
#include "layers/tree_digest.hpp"

namespace oyat::layers {
namespace {

// One entry of a test archive.
struct TarEntry {
    std::string path;
    mode_t mode = S_IFREG | 0644U;
    std::string content;  // or the target of a link
    bool hard_link = false;
    std::int64_t uid = 0;
    std::string xattr = {};
};

class TemplatesTest : public MachineTest {
protected:
    void SetUp() override {
        MachineTest::SetUp();
        if (IsSkipped()) return;
        templates_.emplace(dir_ + "/templates");
    }

    void TearDown() override {
        if (templates_) EXPECT_TRUE(nothing_unfinished());
        MachineTest::TearDown();
    }

    Fd tar(const std::vector<TarEntry>& entries, const std::function<int(archive*)>& filter = {}) {
        const std::string path = dir_ + "/archive";
        archive* const out = archive_write_new();
        archive_write_set_format_pax(out);
        if (filter) filter(out);
        archive_write_open_filename(out, path.c_str());
        for (const TarEntry& entry : entries) {
            archive_entry* const header = archive_entry_new();
            archive_entry_set_pathname(header, entry.path.c_str());
            archive_entry_set_mode(header, entry.mode);
            archive_entry_set_uid(header, entry.uid);
            archive_entry_set_mtime(header, 1'700'000'000, 0);
            if (entry.hard_link) {
                archive_entry_set_hardlink(header, entry.content.c_str());
            } else if (S_ISLNK(entry.mode)) {
                archive_entry_set_symlink(header, entry.content.c_str());
            } else if (S_ISREG(entry.mode)) {
                archive_entry_set_size(header, static_cast<std::int64_t>(entry.content.size()));
            }
            if (S_ISCHR(entry.mode)) archive_entry_set_rdev(header, 0x103);
            if (!entry.xattr.empty()) archive_entry_xattr_add_entry(header, entry.xattr.c_str(), "v", 1);
            archive_write_header(out, header);
            if (!entry.hard_link && S_ISREG(entry.mode)) {
                archive_write_data(out, entry.content.data(), entry.content.size());
            }
            archive_entry_free(header);
        }
        archive_write_close(out);
        archive_write_free(out);
        return Fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    }

    static Result<TemplateMeta> outcome_of(Job& job) {
        for (;;) {
            pollfd ready{.fd = job.fd(), .events = POLLIN, .revents = 0};
            ::poll(&ready, 1, 10'000);
            if (std::optional<Result<TemplateMeta>> outcome = job.advance()) return *std::move(outcome);
        }
    }
    Result<TemplateMeta> import(Fd archive, const std::string& name = "t", const std::string& expected = "") {
        return outcome_of(*templates_->import(name, expected, std::move(archive)));
    }
    std::string reason(const std::vector<TarEntry>& entries) {
        const Result<TemplateMeta> outcome = import(tar(entries));
        return outcome ? "accepted" : outcome.error().message();
    }

    // Removal goes on in the background; what counts is that it comes to its end.
    [[nodiscard]] bool nothing_unfinished() const {
        for (int tries = 0; tries < 2000; ++tries) {
            bool found = false;
            for (const auto& entry : std::filesystem::directory_iterator{dir_ + "/templates"}) {
                const std::string name = entry.path().filename();
                found |= name.starts_with("new-") || name.starts_with("gone-");
            }
            if (!found) return true;
            ::usleep(1000);
        }
        return false;
    }

    std::optional<Templates> templates_;
};

const std::vector<TarEntry> kTree{
    {.path = "./", .mode = S_IFDIR | 0755U, .content = ""},
    {.path = "./bin/", .mode = S_IFDIR | 0755U, .content = ""},
    {.path = "./bin/tool", .mode = S_IFREG | 04755U, .content = "#!"},
    {.path = "./bin/same", .content = "bin/tool", .hard_link = true},
    {.path = "./bin/link", .mode = S_IFLNK | 0777U, .content = "/bin/tool"},
    {.path = "./home/user/", .mode = S_IFDIR | 0700U, .content = "", .uid = 1000},
    {.path = "./home/user/f\xc5\x91", .content = "text", .uid = 1000, .xattr = "user.k"}};

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

TEST_F(TemplatesTest, AllUsualCompressionsAreRead) {
    for (const auto& filter : std::vector<std::function<int(archive*)>>{
             archive_write_add_filter_none, archive_write_add_filter_gzip, archive_write_add_filter_xz,
             archive_write_add_filter_zstd}) {
        const Result<TemplateMeta> outcome = import(tar(kTree, filter));
        EXPECT_TRUE(outcome) << outcome.error().message();
    }
    EXPECT_EQ(templates_->list().size(), 1U);  // one content, one template
}

TEST_F(TemplatesTest, ANameMovesToTheLatestImport) {
    const TemplateMeta first = or_throw(import(tar({{.path = "a", .content = "1"}}), "base"));
    const TemplateMeta second = or_throw(import(tar({{.path = "a", .content = "2"}}), "base"));
    EXPECT_NE(first.digest, second.digest);
    EXPECT_EQ(templates_->find("base")->digest, second.digest);
    EXPECT_TRUE(templates_->find(first.digest));
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

TEST(TreeDigest, DoesNotDependOnTimesOrOnHardLinks) {
    if (::geteuid() != 0) GTEST_SKIP() << "reads attributes as root";
    std::string pattern = "/var/tmp/oyat-tree-XXXXXX";
    const std::string dir = ::mkdtemp(pattern.data());
    std::filesystem::create_directories(dir + "/one");
    std::filesystem::create_directories(dir + "/two");
    std::ofstream{dir + "/one/a"} << "x";
    std::filesystem::create_hard_link(dir + "/one/a", dir + "/one/b");
    std::ofstream{dir + "/two/a"} << "x";
    std::ofstream{dir + "/two/b"} << "x";
    std::filesystem::last_write_time(dir + "/two/a", {});
    const Fd one = open_path(dir + "/one");
    const Fd two = open_path(dir + "/two");
    EXPECT_EQ(summarize_tree(one.get()).digest, summarize_tree(two.get()).digest);
    std::filesystem::permissions(dir + "/two/a", std::filesystem::perms::owner_all);
    EXPECT_NE(summarize_tree(one.get()).digest, summarize_tree(two.get()).digest);
    std::filesystem::remove_all(dir);
}

TEST(TemplateMeta, SurvivesItsOwnJson) {
    const TemplateMeta meta{.digest = "sha256:" + std::string(64, 'a'),
                            .name = "base",
                            .files = 7,
                            .bytes = 1ULL << 40,
                            .created_ms = 1'700'000'000'000};
    const TemplateMeta again = or_throw(parse_template_meta(to_json(meta)));
    EXPECT_EQ(to_json(again), to_json(meta));
}

TEST(TemplateMeta, RefusesWhatItWouldNotUnderstand) {
    for (const char* json : {"", "{}", "{\"digest\":\"x\"}", "[]", "{\"digest\":",
                             "{\"digest\":\"sha256:\\u0061\"}", "{\"digest\":1} ", "{\"a\":{}}"}) {
        EXPECT_FALSE(parse_template_meta(json)) << json;
    }
}

}  // namespace
}  // namespace oyat::layers
