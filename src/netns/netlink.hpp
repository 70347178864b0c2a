#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace oyat::netns {

// A row of netlink requests under construction, laid out as the kernel reads them. Numbers of `attr` are in
// host order, those of `attr_be` in network order: each netlink family has its own habit.
class NetlinkBatch {
public:
    // Starts a message; `family_header` is the fixed part that follows nlmsghdr (ifinfomsg, nfgenmsg, ...).
    void begin(std::uint16_t type, std::uint16_t flags, std::span<const std::byte> family_header);
    void end();

    void attr(std::uint16_t type, std::span<const std::byte> value);
    void attr(std::uint16_t type, std::uint32_t value);
    void attr_be(std::uint16_t type, std::uint32_t value);
    void attr_be64(std::uint16_t type, std::uint64_t value);
    void attr_text(std::uint16_t type, std::string_view text);  // with the NUL that the kernel expects
    void raw(std::span<const std::byte> bytes);  // the fixed part that a few nested attributes begin with

    // Attributes added until `close` become the value of a nested one.
    [[nodiscard]] std::size_t open(std::uint16_t type);
    void close(std::size_t opened);

    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::uint32_t messages() const noexcept { return sequence_; }

private:
    void append(const void* data, std::size_t size);
    void pad();

    std::vector<std::byte> bytes_;
    std::size_t message_ = 0;  // where the open message starts
    std::uint32_t sequence_ = 0;
};

template <class T>
std::span<const std::byte> bytes_of(const T& value) noexcept {
    return std::as_bytes(std::span{&value, 1});
}

// Sends the row to the kernel in the calling thread's network namespace, and throws the first refusal. `acks`
// is how many messages asked for an acknowledgement.
void send_netlink(int protocol, const NetlinkBatch& batch, std::uint32_t acks);

}  // namespace oyat::netns
