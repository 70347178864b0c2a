#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "http/byte_buffer.hpp"
#include "http/chunk_decoder.hpp"
#include "http/head.hpp"
#include "io/stream.hpp"
#include "io/task.hpp"

namespace oyat::http {

// Reads the body of one message: first what the buffer already has, then from the stream, straight into the
// caller's memory where the framing allows it. Bytes beyond the body stay in the buffer.
class BodyReader {
public:
    BodyReader() = default;  // no body
    BodyReader(BodyKind kind, std::optional<std::uint64_t> length);

    // 0 at the end of the body. Throws Error{invalid_argument} when the framing is broken, Error{unavailable}
    // when the stream ends before the body does.
    Task<std::size_t> read(Stream& stream, ByteBuffer& buffer, std::span<char> into);

    [[nodiscard]] bool done() const noexcept;
    // Bytes that are surely still to come: all for a sized body, those of the present chunk for a chunked
    // one.
    [[nodiscard]] std::uint64_t known_left() const noexcept;

private:
    // Moves what can be had without waiting; 0 when more input is needed or the body ended.
    std::size_t take_buffered(ByteBuffer& buffer, std::span<char> into);
    void taken(std::uint64_t count);

    BodyKind kind_ = BodyKind::none;
    std::uint64_t left_ = 0;  // of a sized body
    ChunkDecoder chunks_;
    bool ended_ = false;  // a body until_close
};

}  // namespace oyat::http
