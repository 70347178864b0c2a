#include "io/ip_address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <span>

#include "base/throwing.hpp"

namespace oyat {
namespace {

constexpr int kMappedBits = 96;  // of an address that are the same for all of IPv4
constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr std::array<std::uint8_t, 12> kNat64{0x00, 0x64, 0xff, 0x9b};

std::uint32_t read_v4(const std::uint8_t* at) {
    return std::uint32_t{at[0]} << 24 | std::uint32_t{at[1]} << 16 | std::uint32_t{at[2]} << 8 | at[3];
}

}  // namespace

IpAddress IpAddress::v4(std::uint32_t host_order) {
    Bytes bytes{};
    std::ranges::copy(kMapped, bytes.begin());
    for (int i = 0; i < 4; ++i) bytes[12 + i] = static_cast<std::uint8_t>(host_order >> (24 - 8 * i));
    return IpAddress{bytes};
}

Result<IpAddress> IpAddress::parse(std::string_view text) {
    const std::string terminated{text};
    if (in_addr v4_bytes{}; inet_pton(AF_INET, terminated.c_str(), &v4_bytes) == 1) {
        return v4(ntohl(v4_bytes.s_addr));
    }
    if (Bytes bytes{}; inet_pton(AF_INET6, terminated.c_str(), bytes.data()) == 1) return IpAddress{bytes};
    return refuse(Errc::invalid_argument, "'" + terminated + "' is not an IP address");
}

std::optional<IpAddress> IpAddress::of(const SocketAddress& address) {
    if (address.family() == AF_INET) {
        sockaddr_in in{};
        std::memcpy(&in, address.data(), sizeof in);
        return v4(ntohl(in.sin_addr.s_addr));
    }
    if (address.family() == AF_INET6) {
        sockaddr_in6 in{};
        std::memcpy(&in, address.data(), sizeof in);
        Bytes bytes{};
        std::memcpy(bytes.data(), &in.sin6_addr, bytes.size());
        return IpAddress{bytes};
    }
    return std::nullopt;
}

bool IpAddress::is_v4() const {
    return std::ranges::equal(kMapped, std::span{bytes_}.first<12>());
}

std::uint32_t IpAddress::to_v4() const {
    return read_v4(&bytes_[12]);
}

std::string IpAddress::to_string() const {
    char text[INET6_ADDRSTRLEN];
    if (is_v4()) {
        inet_ntop(AF_INET, &bytes_[12], text, sizeof text);
    } else {
        inet_ntop(AF_INET6, bytes_.data(), text, sizeof text);
    }
    return text;
}

SocketAddress IpAddress::with_port(std::uint16_t port) const {
    return or_throw(SocketAddress::ip(to_string(), port));
}

IpAddress IpAddress::unwrapped() const {
    if (std::ranges::equal(kNat64, std::span{bytes_}.first<12>())) return v4(read_v4(&bytes_[12]));
    if (bytes_[0] == 0x20 && bytes_[1] == 0x02) return v4(read_v4(&bytes_[2]));
    // Teredo writes the client's address with all bits inverted.
    if (read_v4(bytes_.data()) == 0x20010000) return v4(~read_v4(&bytes_[12]));
    return *this;
}

Result<Cidr> Cidr::parse(std::string_view text) {
    const std::size_t slash = text.find('/');
    const Result<IpAddress> base = IpAddress::parse(text.substr(0, slash));
    if (!base) return refuse(Errc::invalid_argument, "'" + std::string{text} + "' is not an address range");
    const int offset = base->is_v4() ? kMappedBits : 0;
    int bits = 128;
    if (slash != std::string_view::npos) {
        const std::string_view digits = text.substr(slash + 1);
        int prefix = -1;
        const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), prefix);
        if (problem != std::errc{} || end != digits.data() + digits.size() || prefix < 0 ||
            prefix > 128 - offset) {
            return refuse(Errc::invalid_argument, "'" + std::string{text} + "' has a bad prefix length");
        }
        bits = offset + prefix;
    }
    const Cidr range{*base, bits};
    for (int bit = bits; bit < 128; ++bit) {
        if ((base->bytes()[bit / 8] >> (7 - bit % 8) & 1) != 0) {
            return refuse(Errc::invalid_argument, "'" + std::string{text} + "' has bits below its prefix");
        }
    }
    return range;
}

bool Cidr::contains(const IpAddress& address) const {
    const int whole = bits_ / 8;
    if (!std::equal(base_.bytes().begin(), base_.bytes().begin() + whole, address.bytes().begin()))
        return false;
    const int rest = bits_ % 8;
    if (rest == 0) return true;
    const auto mask = static_cast<std::uint8_t>(0xff << (8 - rest));
    return ((base_.bytes()[whole] ^ address.bytes()[whole]) & mask) == 0;
}

bool Cidr::is_every_v4() const {
    return bits_ <= kMappedBits && contains(IpAddress::v4(0)) && contains(IpAddress::v4(0xFFFFFFFF));
}

std::string Cidr::to_string() const {
    const bool v4 = base_.is_v4() && bits_ >= kMappedBits;
    return base_.to_string() + "/" + std::to_string(v4 ? bits_ - kMappedBits : bits_);
}

}  // namespace oyat
