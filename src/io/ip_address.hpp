#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "io/address.hpp"

namespace oyat {

// An IP address as policy sees it: sixteen bytes, IPv4 in its IPv4-mapped form, so that "::ffff:127.0.0.1"
// and "127.0.0.1" are one and the same value and no rule can be passed by the other spelling.
class IpAddress {
public:
    using Bytes = std::array<std::uint8_t, 16>;

    IpAddress() = default;  // ::
    explicit IpAddress(const Bytes& bytes) : bytes_{bytes} {}
    static IpAddress v4(std::uint32_t host_order);
    // The canonical spellings only: "10.1.2.3", "fd00::1". Not "0x7f.1", "017700000001" or "2130706433".
    static Result<IpAddress> parse(std::string_view text);
    // Nothing for other families (unix).
    static std::optional<IpAddress> of(const SocketAddress& address);

    [[nodiscard]] bool is_v4() const;
    [[nodiscard]] std::uint32_t to_v4() const;  // host order; only when is_v4()
    [[nodiscard]] const Bytes& bytes() const { return bytes_; }
    [[nodiscard]] std::string to_string() const;
    [[nodiscard]] SocketAddress with_port(std::uint16_t port) const;

    // The IPv4 address that a packet to this one would reach in the end: NAT64 (RFC 6052), 6to4 (RFC 3056)
    // and Teredo (RFC 4380) carry one inside. Any other address is returned as it is.
    [[nodiscard]] IpAddress unwrapped() const;

    auto operator<=>(const IpAddress&) const = default;

private:
    Bytes bytes_{};
};

// "10.0.0.0/8", "fd00::/8" or a bare address. Bits below the prefix must be zero: "10.1.2.3/8" is a mistake.
class Cidr {
public:
    static Result<Cidr> parse(std::string_view text);

    [[nodiscard]] bool contains(const IpAddress& address) const;
    [[nodiscard]] bool covers(const Cidr& other) const {
        return bits_ <= other.bits_ && contains(other.base_);
    }
    // "0.0.0.0/0", and whatever is wider.
    [[nodiscard]] bool is_every_v4() const;
    [[nodiscard]] std::string to_string() const;

private:
    Cidr(const IpAddress& base, int bits) : base_{base}, bits_{bits} {}

    IpAddress base_;
    int bits_;  // of the 128
};

}  // namespace oyat
