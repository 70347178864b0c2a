#include "rpc/envelope.hpp"

#include <gtest/gtest.h>

namespace oyat::rpc {
namespace {

using namespace std::string_literals;

std::string framed(std::uint8_t flags, std::string_view payload) {
    std::string out;
    append_envelope(out, flags, payload);
    return out;
}

TEST(Envelope, IsAFlagByteAndABigEndianLength) {
    EXPECT_EQ(framed(2, "{}"), "\x02\x00\x00\x00\x02{}"s);
    EXPECT_EQ(framed(0, std::string(0x010203, 'x')).substr(0, 5), "\x00\x00\x01\x02\x03"s);
}

TEST(EnvelopeReader, FindsEnvelopesHoweverTheBytesCome) {
    const std::string body = framed(0, "first") + framed(0, "") + framed(2, "{}");
    for (std::size_t step = 1; step <= body.size(); ++step) {
        EnvelopeReader reader{100};
        std::string seen;
        for (std::size_t at = 0; at < body.size(); at += step) {
            reader.feed(std::string_view{body}.substr(at, step));
            while (auto envelope = reader.next().value()) {
                seen += std::to_string(envelope->flags) + "[" + envelope->payload + "]";
            }
        }
        EXPECT_EQ(seen, "0[first]0[]2[{}]") << "in steps of " << step;
        EXPECT_TRUE(reader.at_boundary());
    }
}

TEST(EnvelopeReader, KnowsThatABodyWasCutOff) {
    EnvelopeReader reader{100};
    reader.feed("\x00\x00"s);
    EXPECT_FALSE(reader.next().value());
    EXPECT_FALSE(reader.at_boundary());
}

TEST(EnvelopeReader, RefusesATooLongMessageByItsHeaderAlone) {
    EnvelopeReader reader{100};
    reader.feed("\x00\xFF\xFF\xFF\xFF"s);
    EXPECT_FALSE(reader.next().has_value());
}

TEST(EnvelopeReader, RefusesCompression) {
    EnvelopeReader reader{100};
    reader.feed(framed(1, "x"));
    EXPECT_FALSE(reader.next().has_value());
}

}  // namespace
}  // namespace oyat::rpc
