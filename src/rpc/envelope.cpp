#include "rpc/envelope.hpp"

#include "base/assert.hpp"

namespace oyat::rpc {
namespace {

std::size_t payload_size(std::string_view header) {
    std::size_t size = 0;
    for (int i = 1; i <= 4; ++i) size = size << 8 | static_cast<unsigned char>(header[i]);
    return size;
}

}  // namespace

Result<std::optional<Envelope>> EnvelopeReader::next() {
    const std::string_view rest = std::string_view{buffer_}.substr(taken_);
    if (rest.size() < Envelope::kHeaderSize) return std::nullopt;
    const std::size_t size = payload_size(rest);
    if (size > max_payload_) {
        return refuse(Errc::exhausted, "message of " + std::to_string(size) + " bytes: the limit is " +
                                           std::to_string(max_payload_));
    }
    const auto flags = static_cast<std::uint8_t>(rest[0]);
    if ((flags & Envelope::kCompressed) != 0) {
        return refuse(Errc::internal, "compressed message although no compression was agreed on");
    }
    if (rest.size() - Envelope::kHeaderSize < size) return std::nullopt;

    Envelope envelope{.flags = flags, .payload = std::string{rest.substr(Envelope::kHeaderSize, size)}};
    taken_ += Envelope::kHeaderSize + size;
    if (taken_ == buffer_.size()) {
        buffer_.clear();
        taken_ = 0;
    } else if (taken_ > 64 * 1024) {
        buffer_.erase(0, taken_);
        taken_ = 0;
    }
    return envelope;
}

std::size_t open_envelope(std::string& out) {
    const std::size_t at = out.size();
    out.append(Envelope::kHeaderSize, '\0');
    return at;
}

void close_envelope(std::string& out, std::size_t opened_at, std::uint8_t flags) {
    const std::size_t size = out.size() - opened_at - Envelope::kHeaderSize;
    OYAT_ASSERT(size <= 0xFFFF'FFFF);
    out[opened_at] = static_cast<char>(flags);
    for (int i = 1; i <= 4; ++i) out[opened_at + i] = static_cast<char>(size >> (8 * (4 - i)));
}

void append_envelope(std::string& out, std::uint8_t flags, std::string_view payload) {
    const std::size_t at = open_envelope(out);
    out += payload;
    close_envelope(out, at, flags);
}

}  // namespace oyat::rpc
