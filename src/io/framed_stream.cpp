#include "io/framed_stream.hpp"

#include <array>
#include <cstdint>

#include "base/defer.hpp"
#include "base/error.hpp"

namespace oyat {
namespace {

constexpr std::size_t kHead = 5;

std::array<char, kHead> head_of(char kind, std::size_t length) {
    std::array<char, kHead> head{kind};
    for (std::size_t i = 0; i < 4; ++i) head[1 + i] = static_cast<char>(length >> (24 - 8 * i) & 0xFF);
    return head;
}

std::size_t length_in(const std::array<char, kHead>& head) {
    std::size_t length = 0;
    for (std::size_t i = 1; i < kHead; ++i) length = length << 8 | static_cast<std::uint8_t>(head[i]);
    return length;
}

}  // namespace

Task<std::optional<FramedStream::Frame>> FramedStream::read() {
    std::array<char, kHead> head{};
    if (!co_await read_exactly(head)) co_return std::nullopt;
    const std::size_t length = length_in(head);
    if (length > kMaxFrame) throw Error{Errc::invalid_argument, "a frame is too long"};
    Frame frame{.kind = head[0], .bytes = std::string(length, '\0')};
    if (length > 0 && !co_await read_exactly(frame.bytes))
        throw Error{Errc::unavailable, "the stream was cut"};
    co_return frame;
}

Task<> FramedStream::write(char kind, std::string_view bytes) {
    while (writing_) co_await written_.wait();
    writing_ = true;
    const Defer done{[this] {
        writing_ = false;
        written_.notify_one();
    }};
    do {
        const std::string_view piece = bytes.substr(0, kMaxFrame);
        bytes.remove_prefix(piece.size());
        const std::array<char, kHead> head = head_of(kind, piece.size());
        const std::array<std::string_view, 2> parts{std::string_view{head.data(), head.size()}, piece};
        co_await stream_.write_parts(parts);
    } while (!bytes.empty());
}

// False when the stream ended before the first byte.
Task<bool> FramedStream::read_exactly(std::span<char> into) {
    for (std::size_t have = 0; have < into.size();) {
        const std::size_t n = co_await stream_.read_some(into.subspan(have));
        if (n == 0 && have == 0) co_return false;
        if (n == 0) throw Error{Errc::unavailable, "the stream was cut"};
        have += n;
    }
    co_return true;
}

}  // namespace oyat
