#include "wire/codec.hpp"

#include <gtest/gtest.h>

#include "wire/agent_messages.hpp"

namespace oyat::wire {
namespace {

TEST(Codec, MessagesComeBackAsTheyWent) {
    Request request;
    request.spawn = Spawn{.argv = {"/bin/bash", "", "x\ny"}, .env = {{"A", ""}, {"B", "=\n"}}, .cwd = "/", .user = "u",
                          .pty = TermSize{.cols = 0, .rows = 7}, .wall_ms = ~0ull};
    const Result<Request> back = decode<Request>(encode(request));
    ASSERT_TRUE(back);
    ASSERT_TRUE(back->spawn);
    EXPECT_EQ(back->spawn->argv, request.spawn->argv);
    EXPECT_EQ(back->spawn->env, request.spawn->env);
    EXPECT_EQ(back->spawn->pty->cols, 0u);
    EXPECT_EQ(back->spawn->pty->rows, 7u);
    EXPECT_EQ(back->spawn->wall_ms, ~0ull);
    EXPECT_FALSE(back->attach);
}

TEST(Codec, NegativeNumbersAreZigzag) {
    const Result<Exited> back = decode<Exited>(encode(Exited{.exit_code = -1}));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->exit_code, -1);
}

TEST(Codec, VectorKnownToProtobuf) {
    // The example of protobuf's own encoding guide: field 1 = 150.
    EXPECT_EQ(encode(Attach{.pid = 150}), std::string("\x08\x96\x01"));
}

TEST(Codec, RefusesLengthsBeyondTheMessage) {
    EXPECT_FALSE(decode<Spawn>(std::string("\x0A\x05" "ab", 4)));
    EXPECT_FALSE(decode<Spawn>("\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"));
}

TEST(Codec, RefusesNumbersThatDoNotFit) {
    std::string bytes;
    put_tagged_varint(bytes, 1, 1ull << 40);  // pid is 32 bits
    EXPECT_FALSE(decode<Attach>(bytes));
}

TEST(Codec, RefusesTheWrongWireType) {
    std::string bytes;
    put_tagged_bytes(bytes, 1, "x");
    EXPECT_FALSE(decode<Attach>(bytes));
}

TEST(Codec, SkipsUnknownFields) {
    std::string bytes;
    put_tagged_bytes(bytes, 999, "later version");
    bytes += encode(Attach{.pid = 3});
    const Result<Attach> back = decode<Attach>(bytes);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->pid, 3u);
}

// Once each of them took a piece of the stack.
TEST(Codec, SkipsAnyNumberOfFieldsOfUnknownTypes) {
    std::string bytes;
    for (int i = 0; i < 1'000'000; ++i) bytes += std::string_view{"\x7D....", 5};  // 32 bits, field 15
    bytes += std::string_view{"\x79........", 9};                                   // 64 bits
    bytes += encode(Attach{.pid = 3});
    const Result<Attach> back = decode<Attach>(bytes);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->pid, 3u);
    EXPECT_FALSE(decode<Attach>(std::string_view{"\x7D...", 4}));
}

}  // namespace
}  // namespace oyat::wire
