#include "keeper/record.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace oyat::keeper {
namespace {

class RecordsTest : public testing::Test {
protected:
    ~RecordsTest() override { std::filesystem::remove_all(dir_); }

    static std::string make_dir() {
        std::string name = "/tmp/oyat-records-XXXXXX";
        return ::mkdtemp(name.data());
    }

    std::string dir_ = make_dir();
    Records records_{dir_};
};

BoxRecord record(const std::string& id, Stage stage) {
    return {.format = BoxRecord::kFormat, .id = id, .stage = stage, .pid = 77, .limits = {.memory_bytes = 5}};
}

TEST_F(RecordsTest, GivesBackWhatWasWrittenLast) {
    records_.write(record("i1", Stage::intended));
    records_.write(record("i1", Stage::handed_out));
    const std::vector<BoxRecord> all = records_.read_all();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].stage, Stage::handed_out);
    EXPECT_EQ(all[0].limits.memory_bytes, 5U);
}

TEST_F(RecordsTest, AShorterOneLeavesNothingOfTheLonger) {
    BoxRecord longer = record("i1", Stage::handed_out);
    longer.owner_tag = std::string(40, 'x');
    longer.frozen = true;
    records_.write(longer);
    records_.write(record("i1", Stage::pooled));
    const std::vector<BoxRecord> all = records_.read_all();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].owner_tag, "");
    EXPECT_FALSE(all[0].frozen);
}

TEST_F(RecordsTest, ForgetsWhatIsRemoved) {
    records_.write(record("i1", Stage::pooled));
    records_.remove("i1");
    EXPECT_TRUE(records_.read_all().empty());
}

TEST_F(RecordsTest, RemovesWhatIsNoRecord) {
    std::ofstream{dir_ + "/i2"} << "not a record at all";
    std::ofstream{dir_ + "/i3"} << "";  // of a keeper that was killed between open and write
    BoxRecord from_later = record("i4", Stage::handed_out);
    from_later.format = BoxRecord::kFormat + 1;
    records_.write(from_later);
    records_.write(record("i5", Stage::handed_out));
    std::filesystem::rename(dir_ + "/i5", dir_ + "/i6");  // under another's name
    EXPECT_TRUE(records_.read_all().empty());
    EXPECT_TRUE(std::filesystem::is_empty(dir_));
}

}  // namespace
}  // namespace oyat::keeper
