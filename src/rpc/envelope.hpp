#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace oyat::rpc {

// One message of a streamed body: a flag byte, the length in four bytes (big-endian), the payload.
struct Envelope {
    static constexpr std::uint8_t kCompressed = 0x01;
    static constexpr std::uint8_t kEndOfStream = 0x02;
    static constexpr std::size_t kHeaderSize = 5;

    std::uint8_t flags = 0;
    std::string payload;
};

// Cuts a body, in whatever pieces it comes, into its envelopes. Pure; what it holds is bounded by the largest
// payload that it accepts plus the piece that was fed last.
class EnvelopeReader {
public:
    explicit EnvelopeReader(std::size_t max_payload) : max_payload_{max_payload} {}

    void feed(std::string_view bytes) { buffer_.append(bytes); }
    // The next whole envelope, nothing when more bytes are needed. Refuses a payload over the limit by its
    // header alone, and envelopes that say they are compressed: we never offered that.
    [[nodiscard]] Result<std::optional<Envelope>> next();
    // False when the body ended inside an envelope.
    [[nodiscard]] bool at_boundary() const noexcept { return taken_ == buffer_.size(); }

private:
    std::size_t max_payload_;
    std::string buffer_;
    std::size_t taken_ = 0;
};

// Writes an envelope whose payload is appended in place, so that no message is copied to be framed:
// open_envelope(out), append the payload, close_envelope(out, at, flags).
[[nodiscard]] std::size_t open_envelope(std::string& out);
void close_envelope(std::string& out, std::size_t opened_at, std::uint8_t flags);

void append_envelope(std::string& out, std::uint8_t flags, std::string_view payload);

}  // namespace oyat::rpc
