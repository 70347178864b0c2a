#include "secrets/seal.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/id.hpp"
#include "base/throwing.hpp"
#include "secrets/key_file.hpp"

namespace oyat::secrets {
namespace {

SecretValue key(char fill) {
    return SecretValue{std::string(Seal::kKeyBytes, fill)};
}

TEST(Seal, OpensWhatItClosed) {
    const Seal seal{key('k')};
    const std::string value{"line one\n\"quoted\"\0end", 21};
    EXPECT_EQ(or_throw(seal.open("a/1", seal.close("a/1", value))).bytes(), value);
    EXPECT_EQ(or_throw(seal.open("", seal.close("", ""))).bytes(), "");
}

TEST(Seal, NeverWritesTheSameValueTwiceTheSameWay) {
    const Seal seal{key('k')};
    EXPECT_NE(seal.close("a", "value"), seal.close("a", "value"));
}

// Somebody who can write to the database must not be able to give a sandbox another tenant's secret.
TEST(Seal, DoesNotOpenInAnotherPlaceOfTheDatabase) {
    const Seal seal{key('k')};
    EXPECT_FALSE(seal.open("acme/2", seal.close("acme/1", "value")));
}

TEST(Seal, DoesNotOpenWithAnotherKeyOrWhenDamaged) {
    const Seal seal{key('k')};
    std::string sealed = seal.close("a", "value");
    EXPECT_FALSE(Seal{key('x')}.open("a", sealed));
    sealed[20] = sealed[20] == 'A' ? 'B' : 'A';
    for (const std::string& damaged :
         {sealed, std::string{}, std::string{"AAAA"}, std::string{"no base64!"}}) {
        EXPECT_FALSE(seal.open("a", damaged)) << damaged;
    }
}

class KeyFile : public testing::Test {
protected:
    KeyFile() { std::filesystem::create_directory(directory_); }
    ~KeyFile() override { std::filesystem::remove_all(directory_); }
    std::filesystem::path directory_ = std::filesystem::temp_directory_path() / ("oyat-key-" + random_hex(8));
    std::string path_ = directory_ / "secrets.key";
};

TEST_F(KeyFile, IsMadeOnceAndReadByItsOwnerOnly) {
    const SecretValue first = read_or_make_key(path_);
    const SecretValue again = read_or_make_key(path_);
    EXPECT_EQ(first.bytes(), again.bytes());
    EXPECT_EQ(first.bytes().size(), Seal::kKeyBytes);
    struct stat facts{};
    ASSERT_EQ(::stat(path_.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 07777, 0400u);
}

TEST_F(KeyFile, IsRefusedWhenOthersMayReadIt) {
    (void)read_or_make_key(path_);
    ASSERT_EQ(::chmod(path_.c_str(), 0440), 0);
    EXPECT_THROW((void)read_or_make_key(path_), Error);
}

TEST_F(KeyFile, IsRefusedWhenItHoldsSomethingElse) {
    for (const std::string& text :
         {std::string{}, std::string(63, 'a'), std::string(66, 'a'), std::string(64, 'g')}) {
        std::ofstream{path_} << text;
        ASSERT_EQ(::chmod(path_.c_str(), 0400), 0);
        EXPECT_THROW((void)read_or_make_key(path_), Error) << text;
        std::filesystem::remove(path_);
    }
}

// The file could be swapped for a link to one that others know.
TEST_F(KeyFile, IsNotReadThroughALink) {
    (void)read_or_make_key(path_);
    const std::string link = directory_ / "link";
    std::filesystem::create_symlink(path_, link);
    EXPECT_THROW((void)read_or_make_key(link), Error);
}

}  // namespace
}  // namespace oyat::secrets
