#include "http/chunk_decoder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

namespace oyat::http {
namespace {

// Decodes input that arrives in pieces of `step` bytes; nothing when it is refused or not complete. What
// follows the body comes back in `rest`.
std::optional<std::string> decode(std::string_view input, std::size_t step, std::string* rest = nullptr) {
    ChunkDecoder decoder;
    std::string data;
    std::string pending;
    while (!decoder.done()) {
        const auto taken = decoder.take_framing(pending);
        if (!taken) return std::nullopt;
        pending.erase(0, *taken);
        const auto now =
            static_cast<std::size_t>(std::min<std::uint64_t>(decoder.chunk_left(), pending.size()));
        data.append(pending, 0, now);
        pending.erase(0, now);
        decoder.data_taken(now);
        if (decoder.done() || *taken + now > 0) continue;
        if (input.empty()) return std::nullopt;
        pending.append(input.substr(0, step));
        input.remove_prefix(std::min(step, input.size()));
    }
    if (rest != nullptr) *rest = pending.append(input);
    return data;
}

TEST(ChunkDecoder, GivesTheSameHoweverTheBytesArrive) {
    const std::string_view input =
        "5\r\nhello\r\n1;a=b;c=\"d\"\r\n \r\n005\r\nworld\r\n0\r\nX-Sum: 1\r\n\r\nGET / HTTP/1.1\r\n";
    for (std::size_t step = 1; step <= input.size(); ++step) {
        std::string rest;
        EXPECT_EQ(decode(input, step, &rest), "hello world") << step;
        EXPECT_EQ(rest, "GET / HTTP/1.1\r\n") << step;
    }
}

TEST(ChunkDecoder, RefusesWhatCouldBeReadInTwoWays) {
    for (const std::string_view input : {
             "5\nhello\r\n0\r\n\r\n",
             "5\r\nhello\n0\r\n\r\n",
             "5\r\nhello0\r\n\r\n",
             "5\r\nhelloworld\r\n0\r\n\r\n",
             "0x5\r\nhello\r\n0\r\n\r\n",
             "+5\r\nhello\r\n0\r\n\r\n",
             "-1\r\n\r\n",
             " 5\r\nhello\r\n0\r\n\r\n",
             "5 \r\nhello\r\n0\r\n\r\n",
             "5 ;a\r\nhello\r\n0\r\n\r\n",
             "\r\nhello\r\n0\r\n\r\n",
             ";a\r\nhello\r\n0\r\n\r\n",
             "g\r\n",
             "ffffffffffffffff\r\n",
             "10000000000000000\r\n",
             "5;a\x01\r\nhello\r\n0\r\n\r\n",
             "5;a\rb\r\nhello\r\n0\r\n\r\n",
             "0\r\nHost: other\r\n\r\n",
             "0\r\ncontent-length: 5\r\n\r\n",
             "0\r\nTransfer-Encoding: chunked\r\n\r\n",
             "0\r\nX : a\r\n\r\n",
             "0\r\n folded: a\r\n\r\n",
             "0\r\nGET / HTTP/1.1\r\n\r\n",
         }) {
        EXPECT_EQ(decode(input, input.size()), std::nullopt) << input;
        EXPECT_EQ(decode(input, 1), std::nullopt) << input;
    }
}

TEST(ChunkDecoder, HasLittlePatienceForExtensionsAndTrailers) {
    EXPECT_EQ(decode("5;" + std::string(65536, 'a') + "\r\nhello\r\n0\r\n\r\n", 1000), std::nullopt);
    EXPECT_EQ(decode("5;" + std::string(65536, 'a'), 1000), std::nullopt) << "a line without an end";
    std::string flood;
    for (int i = 0; i < 1000; ++i) flood += "1;" + std::string(100, 'a') + "\r\nx\r\n";
    EXPECT_EQ(decode(flood + "0\r\n\r\n", 1000), std::nullopt);
    std::string trailers = "0\r\n";
    for (int i = 0; i < 1000; ++i) trailers += "X: " + std::string(100, 'a') + "\r\n";
    EXPECT_EQ(decode(trailers + "\r\n", 1000), std::nullopt);
}

}  // namespace
}  // namespace oyat::http
