#include "wire/frame.hpp"

#include <gtest/gtest.h>

namespace oyat::wire {
namespace {

TEST(Frame, SurvivesBeingCutAnywhere) {
    std::string bytes;
    append_frame(bytes, FrameKind::data, 7, ChannelId::stdout_, "hello");
    append_frame(bytes, FrameKind::eof, 7, ChannelId::stdout_, "");
    FrameParser parser;
    std::vector<Frame> got;
    for (const char c : bytes) {
        parser.feed({&c, 1});
        while (true) {
            auto frame = parser.next();
            ASSERT_TRUE(frame);
            if (!*frame) break;
            got.push_back(**std::move(frame));
        }
    }
    ASSERT_EQ(got.size(), 2u);
    EXPECT_EQ(got[0].payload, "hello");
    EXPECT_EQ(got[0].header.stream, 7u);
    EXPECT_EQ(got[1].header.kind, FrameKind::eof);
}

TEST(Frame, RefusesWhatItWouldNotUnderstand) {
    const auto header = [](std::uint32_t length, std::uint8_t kind, std::uint8_t channel, char reserved) {
        std::string bytes(kHeaderSize, '\0');
        for (int i = 0; i < 4; ++i) bytes[static_cast<std::size_t>(i)] = static_cast<char>(length >> (8 * i));
        bytes[8] = static_cast<char>(kind);
        bytes[9] = static_cast<char>(channel);
        bytes[11] = reserved;
        return bytes;
    };
    EXPECT_TRUE(decode_header(header(kMaxData, 2, 2, 0)));
    EXPECT_FALSE(decode_header(header(kMaxData + 1, 2, 2, 0)));
    EXPECT_FALSE(decode_header(header(kMaxControl + 1, 17, 0, 0)));
    EXPECT_FALSE(decode_header(header(0xFFFFFFFF, 17, 0, 0)));
    EXPECT_FALSE(decode_header(header(0, 0, 0, 0)));
    EXPECT_FALSE(decode_header(header(0, 8, 0, 0)));
    EXPECT_FALSE(decode_header(header(0, 2, 6, 0)));
    EXPECT_FALSE(decode_header(header(0, 2, 2, 1)));
}

}  // namespace
}  // namespace oyat::wire
