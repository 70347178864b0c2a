#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.hpp"

namespace oyat::http {

// The framing of a chunked body (RFC 9112, 7.1), without I/O and without touching the data: the owner moves
// data bytes as it likes and tells how many. Strict, since a second reader who sees other borders is an
// attack: hexadecimal digits only, CRLF only, little room for extensions, no trailer that could change how
// the message is read.
class ChunkDecoder {
public:
    // Takes framing off the front of `input` until data begins, the body ends or the input has no whole line
    // more; returns the number of bytes taken.
    [[nodiscard]] Result<std::size_t> take_framing(std::string_view input);

    // Data bytes of this chunk that are still to come.
    [[nodiscard]] std::uint64_t chunk_left() const noexcept { return chunk_left_; }
    // `count` of them have been moved; at most chunk_left().
    void data_taken(std::uint64_t count) noexcept;

    [[nodiscard]] bool done() const noexcept { return state_ == State::done; }

private:
    enum class State { size_line, data, end_of_data, trailers, done };

    Result<void> take_line(std::string_view line);

    State state_ = State::size_line;
    std::uint64_t chunk_left_ = 0;
    std::size_t extension_bytes_ = 0;
    std::size_t trailer_bytes_ = 0;
};

}  // namespace oyat::http
