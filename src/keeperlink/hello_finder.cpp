#include "keeperlink/hello_finder.hpp"

#include "wire/frame.hpp"

namespace oyat::keeperlink {
namespace {

constexpr std::size_t kLongestHello = 256;

std::optional<wire::FrameHeader> hello_header(std::string_view bytes) {
    // Before the whole check, which makes a sentence for each refusal.
    if (bytes[8] != static_cast<char>(wire::FrameKind::hello)) return std::nullopt;
    const Result<wire::FrameHeader> header = wire::decode_header(bytes);
    if (!header || header->kind != wire::FrameKind::hello || header->stream != 0) return std::nullopt;
    if (header->channel != wire::ChannelId::none || header->length > kLongestHello) return std::nullopt;
    return *header;
}

}  // namespace

Result<std::optional<wire::Hello>> HelloFinder::feed(std::string_view bytes) {
    bytes_.append(bytes);
    std::size_t at = 0;
    for (; bytes_.size() - at >= wire::kHeaderSize; ++at) {
        const std::string_view here = std::string_view{bytes_}.substr(at);
        const auto header = hello_header(here.substr(0, wire::kHeaderSize));
        if (!header) continue;
        if (here.size() < wire::kHeaderSize + header->length) break;
        const auto hello = wire::decode<wire::Hello>(here.substr(wire::kHeaderSize, header->length));
        const bool is_first = skipped_ == 0 && at == 0;
        if (is_first && !hello) return std::unexpected{hello.error()};
        if (hello && (hello->echo == number_ || (is_first && hello->echo == 0))) {
            bytes_.erase(0, at + wire::kHeaderSize + header->length);
            return *hello;
        }
    }
    skipped_ += at;
    bytes_.erase(0, at);
    if (skipped_ > kMostSkipped) return refuse(Errc::invalid_argument, "no HELLO among what it says");
    return std::nullopt;
}

}  // namespace oyat::keeperlink
