#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

// Frames on the byte stream between oyatd (the "host") and oyat-agent. docs/internals/wire.md has them byte by
// byte. A connection starts with one HELLO from the agent on stream 0. The host opens streams by REQUEST with ids
// it chooses (increasing, never reused on a connection); the agent answers with EVENT, DATA and at last exactly
// one END. The agent never opens a stream: it answers, it never commands (threats D-28).
//
// Flow control: DATA and EVENT payload bytes need credit, per stream and direction. Each direction of a stream
// starts with kInitialWindow; CREDIT gives back what the receiver has consumed. Credit given for output of a
// process is also its acknowledgement: what was never credited is sent again to the next connection.
namespace oyat::wire {

inline constexpr std::size_t kHeaderSize = 12;
inline constexpr std::size_t kMaxData = 64 * 1024;       // payload of DATA
inline constexpr std::size_t kMaxControl = 256 * 1024;   // payload of every other kind
inline constexpr std::uint32_t kInitialWindow = 256 * 1024;

enum class FrameKind : std::uint8_t {
    // host -> agent
    request = 1,  // opens the stream; payload: Request message
    cancel = 5,   // the host has lost interest; the agent ends the stream (a process goes on)
    ping = 6,     // stream 0; payload: 8 bytes that come back in PONG
    knock = 7,    // stream 0; payload: 8 bytes that come back in a HELLO: the connection starts here
    // both ways
    data = 2,    // payload: raw bytes of `channel`
    credit = 3,  // payload: u32 LE, bytes given back
    eof = 4,     // no more DATA on `channel` in this direction; payload empty
    // agent -> host
    hello = 16,  // stream 0; payload: Hello message
    event = 17,  // payload: message whose type follows from the stream's request
    end = 18,    // payload: Status message; the stream is over
    pong = 19,   // stream 0
};

// What the bytes of a DATA frame are.
enum class ChannelId : std::uint8_t { none = 0, stdin_ = 1, stdout_ = 2, stderr_ = 3, pty = 4, file = 5 };

struct FrameHeader {
    std::uint32_t length = 0;
    std::uint32_t stream = 0;
    FrameKind kind = FrameKind::data;
    ChannelId channel = ChannelId::none;
};

struct Frame {
    FrameHeader header;
    std::string payload;
};

// 12 bytes: u32 LE length, u32 LE stream, u8 kind, u8 channel, u16 zero.
[[nodiscard]] std::array<char, kHeaderSize> encode_header(const FrameHeader& header);

// Refuses unknown kinds and channels, non-zero reserved bytes and lengths over the cap of the kind.
[[nodiscard]] Result<FrameHeader> decode_header(std::string_view bytes);

// Appends a whole frame. The payload must be within the kind's cap (asserted).
void append_frame(std::string& out, FrameKind kind, std::uint32_t stream, ChannelId channel, std::string_view payload);

// Eight bytes, little endian, as PING and KNOCK have them.
[[nodiscard]] std::string u64_payload(std::uint64_t number);
[[nodiscard]] std::uint64_t get_u64(std::string_view eight_bytes);

[[nodiscard]] std::string credit_payload(std::uint32_t bytes);
[[nodiscard]] Result<std::uint32_t> parse_credit(std::string_view payload);

// Cuts a byte stream into frames. Holds at most one partial frame, so its memory is bounded by kMaxControl.
// After a refusal the stream is out of step for good and the connection has to be dropped.
class FrameParser {
public:
    // Takes bytes as they came from the socket.
    void feed(std::string_view bytes) { buffer_.append(bytes); }

    // The next whole frame, or nothing yet, or why the stream is broken.
    [[nodiscard]] Result<std::optional<Frame>> next();

private:
    std::string buffer_;
    std::size_t used_ = 0;  // bytes of buffer_ already given out; removed when they are half of it
};

}  // namespace oyat::wire
