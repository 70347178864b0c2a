#include "core/ended_book.hpp"

#include <gtest/gtest.h>

namespace oyat::core {
namespace {

using namespace std::chrono_literals;

SandboxRecord record_of(std::string id, WallTime ended) {
    SandboxRecord record;
    record.id = std::move(id);
    record.ended_at = ended;
    record.env = {{"LARGE", std::string(1000, 'x')}};
    return record;
}

TEST(EndedBook, KeepsARecordForADay) {
    EndedBook book;
    const WallTime now = std::chrono::system_clock::now();
    book.add(record_of("old", now - 25h));
    book.add(record_of("young", now - 23h));
    EXPECT_EQ(book.take_surplus(now), std::vector<std::string>{"old"});
    EXPECT_EQ(book.find("old"), nullptr);
    ASSERT_NE(book.find("young"), nullptr);
    EXPECT_TRUE(book.find("young")->env.empty());
}

TEST(EndedBook, KeepsTheLatestOfVeryMany) {
    EndedBook book;
    const WallTime now = std::chrono::system_clock::now();
    for (std::size_t i = 0; i < EndedBook::kMost + 3; ++i) book.add(record_of(std::to_string(i), now));
    EXPECT_EQ(book.take_surplus(now), (std::vector<std::string>{"0", "1", "2"}));
}

}  // namespace
}  // namespace oyat::core
