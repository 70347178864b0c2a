#include "cli/local_file.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "cli/failure.hpp"

namespace oyat::cli {
namespace {

namespace fs = std::filesystem;

class LocalFileTest : public testing::Test {
protected:
    LocalFileTest() {
        std::string name = fs::temp_directory_path() / "oyat-local-file-XXXXXX";
        folder_ = ::mkdtemp(name.data());
    }
    ~LocalFileTest() override { fs::remove_all(folder_); }

    std::string text_of(const fs::path& path) const {
        std::ostringstream text;
        text << std::ifstream{path}.rdbuf();
        return text.str();
    }
    std::size_t entries() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator{folder_}, {}));
    }

    fs::path folder_;
};

TEST_F(LocalFileTest, IsThereWhenItIsWhole) {
    LocalFile file{folder_ / "a"};
    file.write("text");
    EXPECT_FALSE(fs::exists(folder_ / "a"));
    file.finish(LocalFile::Kind::executable);
    EXPECT_EQ(text_of(folder_ / "a"), "text");
    EXPECT_EQ(fs::status(folder_ / "a").permissions() & fs::perms::owner_exec, fs::perms::owner_exec);
}

TEST_F(LocalFileTest, AFailureHalfWayLeavesWhatWasThere) {
    std::ofstream{folder_ / "a"} << "before";
    {
        LocalFile file{folder_ / "a"};
        file.write("half");
    }
    EXPECT_EQ(text_of(folder_ / "a"), "before");
    EXPECT_EQ(entries(), 1u);
}

TEST_F(LocalFileTest, WritesThroughALinkThatSomebodyNamed) {
    std::ofstream{folder_ / "target"} << "before";
    fs::create_symlink("target", folder_ / "link");
    LocalFile file{folder_ / "link"};
    file.write("new");
    file.finish();
    EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
    EXPECT_EQ(text_of(folder_ / "target"), "new");
}

TEST_F(LocalFileTest, SaysWhyItCannotWrite) {
    try {
        LocalFile file{folder_ / "none" / "a"};
        FAIL();
    } catch (const Failure& failure) {
        EXPECT_NE(failure.message().find("No such file or directory"), std::string::npos)
            << failure.message();
    }
}

}  // namespace
}  // namespace oyat::cli
