#include "http/chunk_decoder.hpp"

#include <algorithm>
#include <array>

#include "base/assert.hpp"
#include "http/grammar.hpp"

namespace oyat::http {
namespace {

constexpr std::size_t kMaxLine = 4096;
constexpr std::size_t kMaxSizeDigits = 15;  // below 2^60: sums of sizes stay far from overflow
// For the whole body. Nobody uses extensions; a flood of them is an attack on whoever parses them.
constexpr std::size_t kMaxExtensionBytes = 4096;
constexpr std::size_t kMaxTrailerBytes = 8192;

// Trailers are dropped, but a message that tries these is not an honest one.
constexpr std::array<std::string_view, 9> kForbiddenTrailers = {
    "host",   "content-length", "transfer-encoding", "connection", "authorization",
    "cookie", "content-type",   "upgrade",           "trailer"};

}  // namespace

Result<std::size_t> ChunkDecoder::take_framing(std::string_view input) {
    std::size_t taken = 0;
    while (state_ != State::data && state_ != State::done) {
        const std::string_view rest = input.substr(taken);
        const auto newline = rest.find('\n');
        if (newline == rest.npos) {
            if (rest.size() > kMaxLine) return refuse(Errc::invalid_argument, "chunk line too long");
            break;
        }
        if (newline == 0 || rest[newline - 1] != '\r') {
            return refuse(Errc::invalid_argument, "chunk line does not end in CRLF");
        }
        if (newline > kMaxLine) return refuse(Errc::invalid_argument, "chunk line too long");
        if (Result<void> line = take_line(rest.substr(0, newline - 1)); !line) {
            return std::unexpected{std::move(line).error()};
        }
        taken += newline + 1;
    }
    return taken;
}

void ChunkDecoder::data_taken(std::uint64_t count) noexcept {
    OYAT_ASSERT(count <= chunk_left_);
    chunk_left_ -= count;
    if (chunk_left_ == 0 && state_ == State::data) state_ = State::end_of_data;
}

Result<void> ChunkDecoder::take_line(std::string_view line) {
    switch (state_) {
        case State::end_of_data:
            if (!line.empty()) return refuse(Errc::invalid_argument, "chunk longer than its size");
            state_ = State::size_line;
            return {};

        case State::size_line: {
            const auto digits = std::min(line.find(';'), line.size());
            const auto size = parse_hex(line.substr(0, digits), kMaxSizeDigits);
            if (!size) return refuse(Errc::invalid_argument, "invalid chunk size");
            extension_bytes_ += line.size() - digits;
            if (extension_bytes_ > kMaxExtensionBytes || !is_field_value(line.substr(digits))) {
                return refuse(Errc::invalid_argument, "invalid or too many chunk extensions");
            }
            chunk_left_ = *size;
            state_ = *size > 0 ? State::data : State::trailers;
            return {};
        }

        case State::trailers: {
            if (line.empty()) {
                state_ = State::done;
                return {};
            }
            trailer_bytes_ += line.size();
            if (trailer_bytes_ > kMaxTrailerBytes) return refuse(Errc::invalid_argument, "trailers too long");
            const auto field = parse_field_line(line);
            if (!field) return refuse(Errc::invalid_argument, "invalid trailer");
            if (std::ranges::any_of(kForbiddenTrailers, [&field](std::string_view name) {
                    return equal_ignoring_case(name, field->name);
                })) {
                return refuse(Errc::invalid_argument, "a trailer that does not belong there");
            }
            return {};
        }

        case State::data:
        case State::done: break;
    }
    OYAT_ASSERT(false);
    return {};
}

}  // namespace oyat::http
