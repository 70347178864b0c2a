#include "keeperlink/hello_finder.hpp"

#include <gtest/gtest.h>

#include "wire/frame.hpp"

namespace oyat::keeperlink {
namespace {

constexpr std::uint64_t kNumber = 0x1122334455667788;

std::string hello(std::uint64_t echo) {
    std::string out;
    wire::append_frame(
        out, wire::FrameKind::hello, 0, wire::ChannelId::none,
        wire::encode(wire::Hello{.magic = wire::kAgentMagic, .version = 1, .generation = 7, .echo = echo}));
    return out;
}

bool finds(HelloFinder& finder, std::string_view bytes) {
    const auto found = finder.feed(bytes);
    return found && *found && (*found)->generation == 7;
}

TEST(HelloFinder, TakesTheFirstWordsOfASocket) {
    HelloFinder finder{kNumber};
    EXPECT_TRUE(finds(finder, hello(0) + "rest"));
    EXPECT_EQ(finder.take_rest(), "rest");
}

TEST(HelloFinder, SkipsWhatWasMeantForAnEarlierHost) {
    std::string half;
    wire::append_frame(half, wire::FrameKind::data, 3, wire::ChannelId::stdout_, "some output");
    for (std::size_t cut = 0; cut < half.size(); ++cut) {
        HelloFinder finder{kNumber};
        EXPECT_TRUE(finds(finder, half.substr(cut) + hello(kNumber) + "rest")) << cut;
        EXPECT_EQ(finder.take_rest(), "rest") << cut;
    }
}

TEST(HelloFinder, FindsItInPiecesOfAnySize) {
    const std::string bytes = "stale" + hello(0) + hello(kNumber);
    HelloFinder finder{kNumber};
    for (std::size_t i = 0; i + 1 < bytes.size(); ++i) ASSERT_FALSE(finds(finder, bytes.substr(i, 1))) << i;
    EXPECT_TRUE(finds(finder, bytes.substr(bytes.size() - 1)));
}

TEST(HelloFinder, DoesNotTakeOneThatAProgramPrinted) {
    HelloFinder finder{kNumber};
    EXPECT_FALSE(finds(finder, "x" + hello(0)));
    EXPECT_FALSE(finds(finder, hello(kNumber + 1)));
    EXPECT_TRUE(finds(finder, hello(kNumber)));
}

TEST(HelloFinder, GivesUpAfterItsBound) {
    HelloFinder finder{kNumber};
    const std::string piece(64 * 1024, '\0');
    std::size_t fed = 0;
    while (finder.feed(piece)) fed += piece.size();
    EXPECT_GE(fed, HelloFinder::kMostSkipped - piece.size());
    EXPECT_LE(fed, HelloFinder::kMostSkipped + piece.size());
}

}  // namespace
}  // namespace oyat::keeperlink
