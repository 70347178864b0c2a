#include "keeper/audit_files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.hpp"

namespace oyat::keeper {
namespace {

class AuditFilesTest : public testing::Test {
protected:
    void TearDown() override {
        // The attribute would keep the files from being removed.
        for (const auto& entry : std::filesystem::directory_iterator{dir_}) {
            const Fd file{::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC)};
            int none = 0;
            ::ioctl(file.get(), FS_IOC_SETFLAGS, &none);
        }
        std::filesystem::remove_all(dir_);
    }

    static std::string make_dir() {
        std::string name = "/tmp/oyat-audit-XXXXXX";
        return ::mkdtemp(name.data());
    }
    void age(const std::string& file, int days) {
        const Fd opened{::open((dir_ + "/" + file).c_str(), O_RDONLY | O_CLOEXEC)};
        int none = 0;
        ::ioctl(opened.get(), FS_IOC_SETFLAGS, &none);  // times of an append-only file can't be set
        const timespec then{::time(nullptr) - (days * 86'400), 0};
        const timespec times[2]{then, then};
        ASSERT_EQ(::futimens(opened.get(), times), 0);
    }

    std::string dir_ = make_dir();
    AuditFiles files_{dir_, 0};
};

TEST_F(AuditFilesTest, AppendsToTheSameFileEachTime) {
    EXPECT_EQ(::write(files_.open("i1", 1).get(), "one", 3), 3);
    EXPECT_EQ(::write(files_.open("i1", 1).get(), "two", 3), 3);
    EXPECT_EQ(std::filesystem::file_size(dir_ + "/i1.000001.log"), 6U);
}

TEST_F(AuditFilesTest, LetsNobodyChangeWhatIsWritten) {
    const Fd file = files_.open("i1", 1);
    ASSERT_EQ(::write(file.get(), "first", 5), 5);
    EXPECT_EQ(::pwrite(file.get(), "X", 1, 0), 1);  // goes to the end: O_APPEND
    char text[6] = {};
    EXPECT_EQ(::pread(file.get(), text, 6, 0), 6);
    EXPECT_EQ(std::string_view(text, 6), "firstX");
    int flags = 0;
    if (::ioctl(file.get(), FS_IOC_GETFLAGS, &flags) != 0)
        GTEST_SKIP() << "no attributes on this file system";
    EXPECT_NE(::ftruncate(file.get(), 0), 0);
    EXPECT_NE(::fcntl(file.get(), F_SETFL, 0), 0);  // O_APPEND can't be taken off
}

TEST_F(AuditFilesTest, FinishesASegmentThatAKilledKeeperLeftHalfMade) {
    const std::string path = dir_ + "/i1.000001.log";
    ASSERT_TRUE(Fd{::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)});
    const Fd file = files_.open("i1", 1);
    struct stat status{};
    ASSERT_EQ(::fstat(file.get(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0640U);
    int flags = 0;
    if (::ioctl(file.get(), FS_IOC_GETFLAGS, &flags) == 0) {
        EXPECT_NE(flags & FS_APPEND_FL, 0);
    }
}

TEST_F(AuditFilesTest, KeepsASegmentForItsRetention) {
    {
        const Fd file = files_.open("i1", 2);
    }
    EXPECT_THROW(files_.drop("i1", 2), Error);
    age("i1.000002.log", 31);
    files_.drop("i1", 2);
    EXPECT_FALSE(std::filesystem::exists(dir_ + "/i1.000002.log"));
}

TEST_F(AuditFilesTest, AYoungSegmentGoesOnlyWhenEnoughYoungerOnesAreThere) {
    const AuditFiles small{dir_, 0, 10};
    for (std::uint32_t segment = 1; segment <= 3; ++segment) {
        const Fd file = small.open("i1", segment);
        ASSERT_EQ(::write(file.get(), "8 bytes.", 8), 8);
    }
    age("i1.000001.log", 2);
    age("i1.000002.log", 1);
    EXPECT_THROW(small.drop("i1", 3), Error);
    EXPECT_THROW(small.drop("i1", 2), Error) << "only 8 bytes are younger";
    small.drop("i1", 1);
    EXPECT_FALSE(std::filesystem::exists(dir_ + "/i1.000001.log"));
}

TEST_F(AuditFilesTest, TakesNoNameThatCouldBeAPath) {
    for (const char* name :
         {"", "..", "a/b", "A", "a.b", "a\n", "12345678901234567890123456789012345678901"}) {
        EXPECT_THROW((void)files_.open(name, 1), Error) << name;
    }
    EXPECT_THROW((void)files_.open("a", 0), Error);
    EXPECT_THROW((void)files_.open("a", 1'000'000), Error);
}

}  // namespace
}  // namespace oyat::keeper
