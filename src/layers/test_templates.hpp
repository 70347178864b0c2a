#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/throwing.hpp"
#include "layers/templates.hpp"
#include "layers/test_machine.hpp"

// Templates in a directory of the test's own, and archives to import. For tests only.
namespace oyat::layers {

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

inline const std::vector<TarEntry> kTree{
    {.path = "./", .mode = S_IFDIR | 0755U, .content = ""},
    {.path = "./bin/", .mode = S_IFDIR | 0755U, .content = ""},
    {.path = "./bin/tool", .mode = S_IFREG | 04755U, .content = "#!"},
    {.path = "./bin/same", .content = "bin/tool", .hard_link = true},
    {.path = "./bin/link", .mode = S_IFLNK | 0777U, .content = "/bin/tool"},
    {.path = "./home/user/", .mode = S_IFDIR | 0700U, .content = "", .uid = 1000},
    {.path = "./home/user/f\xc5\x91", .content = "text", .uid = 1000, .xattr = "user.k"}};

}  // namespace oyat::layers
