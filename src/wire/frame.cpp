#include "wire/frame.hpp"

#include "base/assert.hpp"

namespace oyat::wire {
namespace {

void put_u32(char* at, std::uint32_t value) {
    for (int i = 0; i < 4; ++i) at[i] = static_cast<char>(value >> (8 * i));
}

std::uint32_t get_u32(std::string_view bytes, std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
    }
    return value;
}

bool is_known(std::uint8_t kind) {
    return (kind >= 1 && kind <= 7) || (kind >= 16 && kind <= 19);
}

std::size_t cap_of(FrameKind kind) {
    return kind == FrameKind::data ? kMaxData : kMaxControl;
}

}  // namespace

std::array<char, kHeaderSize> encode_header(const FrameHeader& header) {
    std::array<char, kHeaderSize> out{};
    put_u32(out.data(), header.length);
    put_u32(out.data() + 4, header.stream);
    out[8] = static_cast<char>(header.kind);
    out[9] = static_cast<char>(header.channel);
    return out;
}

Result<FrameHeader> decode_header(std::string_view bytes) {
    if (bytes.size() < kHeaderSize) return refuse(Errc::invalid_argument, "frame header cut short");
    const auto kind = static_cast<std::uint8_t>(bytes[8]);
    const auto channel = static_cast<std::uint8_t>(bytes[9]);
    if (!is_known(kind)) return refuse(Errc::invalid_argument, "unknown frame kind " + std::to_string(kind));
    if (channel > static_cast<std::uint8_t>(ChannelId::file)) {
        return refuse(Errc::invalid_argument, "unknown frame channel " + std::to_string(channel));
    }
    if (bytes[10] != 0 || bytes[11] != 0)
        return refuse(Errc::invalid_argument, "reserved frame bytes are not zero");
    FrameHeader header{.length = get_u32(bytes, 0),
                       .stream = get_u32(bytes, 4),
                       .kind = static_cast<FrameKind>(kind),
                       .channel = static_cast<ChannelId>(channel)};
    if (header.length > cap_of(header.kind)) {
        return refuse(Errc::invalid_argument,
                      "frame of " + std::to_string(header.length) + " bytes is over the cap");
    }
    return header;
}

void append_frame(std::string& out, FrameKind kind, std::uint32_t stream, ChannelId channel,
                  std::string_view payload) {
    OYAT_ASSERT(payload.size() <= cap_of(kind));
    const auto header = encode_header({.length = static_cast<std::uint32_t>(payload.size()),
                                       .stream = stream,
                                       .kind = kind,
                                       .channel = channel});
    out.append(header.data(), header.size());
    out.append(payload);
}

std::string u64_payload(std::uint64_t number) {
    std::string out(8, '\0');
    put_u32(out.data(), static_cast<std::uint32_t>(number));
    put_u32(out.data() + 4, static_cast<std::uint32_t>(number >> 32));
    return out;
}

std::uint64_t get_u64(std::string_view eight_bytes) {
    return get_u32(eight_bytes, 0) | static_cast<std::uint64_t>(get_u32(eight_bytes, 4)) << 32;
}

std::string credit_payload(std::uint32_t bytes) {
    std::string out(4, '\0');
    put_u32(out.data(), bytes);
    return out;
}

Result<std::uint32_t> parse_credit(std::string_view payload) {
    if (payload.size() != 4) return refuse(Errc::invalid_argument, "credit frame is not 4 bytes");
    return get_u32(payload, 0);
}

Result<std::optional<Frame>> FrameParser::next() {
    const std::string_view rest = std::string_view{buffer_}.substr(used_);
    if (rest.size() < kHeaderSize) return std::nullopt;
    Result<FrameHeader> header = decode_header(rest);
    if (!header) return std::unexpected{std::move(header).error()};
    if (rest.size() < kHeaderSize + header->length) return std::nullopt;
    Frame frame{.header = *header, .payload = std::string{rest.substr(kHeaderSize, header->length)}};
    used_ += kHeaderSize + header->length;
    if (used_ > buffer_.size() / 2) {
        buffer_.erase(0, used_);
        used_ = 0;
    }
    return frame;
}

}  // namespace oyat::wire
