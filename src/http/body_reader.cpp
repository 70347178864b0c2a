#include "http/body_reader.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/throwing.hpp"

namespace oyat::http {
namespace {

constexpr std::size_t kFramingRead = 16 * 1024;

}  // namespace

BodyReader::BodyReader(BodyKind kind, std::optional<std::uint64_t> length)
    : kind_{kind}, left_{kind == BodyKind::sized ? length.value_or(0) : 0} {}

bool BodyReader::done() const noexcept {
    switch (kind_) {
        case BodyKind::none: return true;
        case BodyKind::sized: return left_ == 0;
        case BodyKind::chunked: return chunks_.done();
        case BodyKind::until_close: return ended_;
    }
    return true;
}

std::uint64_t BodyReader::known_left() const noexcept {
    switch (kind_) {
        case BodyKind::none: return 0;
        case BodyKind::sized: return left_;
        case BodyKind::chunked: return chunks_.chunk_left();
        case BodyKind::until_close: return ended_ ? 0 : std::numeric_limits<std::uint64_t>::max();
    }
    return 0;
}

void BodyReader::taken(std::uint64_t count) {
    if (kind_ == BodyKind::sized) left_ -= count;
    if (kind_ == BodyKind::chunked) chunks_.data_taken(count);
}

std::size_t BodyReader::take_buffered(ByteBuffer& buffer, std::span<char> into) {
    std::size_t moved = 0;
    // Many small chunks become one answer.
    while (moved < into.size()) {
        if (kind_ == BodyKind::chunked && chunks_.chunk_left() == 0) {
            buffer.consume(or_throw(chunks_.take_framing(buffer.view())));
        }
        const std::size_t now = std::min<std::uint64_t>({known_left(), buffer.size(), into.size() - moved});
        if (now == 0) break;
        std::memcpy(into.data() + moved, buffer.view().data(), now);
        buffer.consume(now);
        taken(now);
        moved += now;
    }
    return moved;
}

Task<std::size_t> BodyReader::read(Stream& stream, ByteBuffer& buffer, std::span<char> into) {
    if (into.empty()) co_return 0;
    for (;;) {
        if (done()) co_return 0;
        if (const std::size_t moved = take_buffered(buffer, into); moved > 0) {
            // The end that came along is taken too, so that the connection is ready for what follows.
            if (kind_ == BodyKind::chunked && chunks_.chunk_left() == 0) {
                buffer.consume(or_throw(chunks_.take_framing(buffer.view())));
            }
            co_return moved;
        }
        if (done()) co_return 0;

        const bool straight = buffer.empty() && known_left() > 0;
        const std::size_t limit = std::min<std::uint64_t>(known_left(), into.size());
        const std::span<char> target = straight ? into.first(limit) : buffer.room(kFramingRead);
        const std::size_t got = co_await stream.read_some(target);
        if (got == 0) {
            if (kind_ != BodyKind::until_close) {
                throw Error{Errc::unavailable, "the connection ended in the middle of a body"};
            }
            ended_ = true;
            co_return 0;
        }
        if (straight) {
            taken(got);
            co_return got;
        }
        buffer.commit(got);
    }
}

}  // namespace oyat::http
