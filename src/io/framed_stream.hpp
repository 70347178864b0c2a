#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "io/condition.hpp"
#include "io/stream.hpp"

namespace oyat {

// Messages over a byte stream: one byte that says what it is, the length in four bytes (big-endian), the
// bytes. Used between `oyat` and oyatd for a command's input and output.
class FramedStream {
public:
    static constexpr std::size_t kMaxFrame = 256 * 1024;

    explicit FramedStream(Stream& stream) : stream_{stream} {}

    struct Frame {
        char kind = 0;
        std::string bytes;
    };
    // Nothing at the end of the stream. Throws Error{unavailable} when it ends within a frame, and
    // Error{invalid_argument} for a longer one than kMaxFrame.
    Task<std::optional<Frame>> read();
    // Longer bytes go as several frames of the kind. Any number of tasks may write: a frame is never torn.
    Task<> write(char kind, std::string_view bytes);

private:
    Task<bool> read_exactly(std::span<char> into);

    Stream& stream_;
    bool writing_ = false;
    Condition written_;
};

}  // namespace oyat
