#include "egress/socks.hpp"

#include "base/assert.hpp"

namespace oyat::egress::socks {
namespace {

constexpr char kVersion = 5, kLoginVersion = 1, kConnect = 1;
constexpr std::uint8_t kNone = 0, kLogin = 2;  // methods
constexpr std::uint8_t kV4 = 1, kName = 3, kV6 = 4;
constexpr std::size_t kMostText = 255;

std::uint8_t byte_at(std::string_view bytes, std::size_t place) {
    return static_cast<std::uint8_t>(bytes[place]);
}

std::uint16_t port_at(std::string_view bytes, std::size_t place) {
    return static_cast<std::uint16_t>(byte_at(bytes, place) << 8 | byte_at(bytes, place + 1));
}

// The length of an address with its port, from the byte that says its type on; nothing when that byte is not
// yet there or unknown.
std::optional<std::size_t> address_size(std::string_view bytes) {
    if (bytes.empty()) return std::nullopt;
    switch (byte_at(bytes, 0)) {
        case kV4: return 1 + 4 + 2;
        case kV6: return 1 + 16 + 2;
        case kName:
            if (bytes.size() < 2) return std::nullopt;
            return std::size_t{1} + 1 + byte_at(bytes, 1) + 2;
        default: return std::nullopt;
    }
}

bool known_type(std::uint8_t type) {
    return type == kV4 || type == kName || type == kV6;
}

Target read_target(std::string_view bytes) {
    Target target;
    const std::uint8_t type = byte_at(bytes, 0);
    if (type == kName) {
        target.name = bytes.substr(2, byte_at(bytes, 1));
    } else if (type == kV4) {
        std::uint32_t address = 0;
        for (std::size_t i = 1; i <= 4; ++i) address = address << 8 | byte_at(bytes, i);
        target.address = IpAddress::v4(address);
    } else {
        IpAddress::Bytes address{};
        for (std::size_t i = 0; i < address.size(); ++i) address[i] = byte_at(bytes, 1 + i);
        target.address = IpAddress{address};
    }
    target.port = port_at(bytes, bytes.size() - 2);
    return target;
}

}  // namespace

std::string_view to_string(Reply reply) noexcept {
    switch (reply) {
        case Reply::ok: return "ok";
        case Reply::failure: return "general failure";
        case Reply::not_allowed: return "not allowed by the proxy's rules";
        case Reply::unreachable: return "host unreachable";
        case Reply::refused: return "connection refused";
        case Reply::unknown_command: return "command not supported";
        case Reply::unknown_address_type: return "address type not supported";
    }
    return "failure";
}

Parsed<Greeting> parse_greeting(std::string_view bytes) {
    using State = Parsed<Greeting>::State;
    if (bytes.empty()) return {};
    if (bytes[0] != kVersion) return {.state = State::broken};
    if (bytes.size() < 2) return {};
    const std::size_t size = std::size_t{2} + byte_at(bytes, 1);
    if (bytes.size() < size) return {};
    const bool without = bytes.substr(2, size - 2).find(static_cast<char>(kNone)) != std::string_view::npos;
    return {.state = State::done, .size = size, .value = {.without_login = without}};
}

Parsed<Request> parse_request(std::string_view bytes) {
    using State = Parsed<Request>::State;
    if (bytes.empty()) return {};
    if (bytes[0] != kVersion || (bytes.size() > 2 && bytes[2] != 0)) return {.state = State::broken};
    if (bytes.size() < 4) return {};
    const auto refuse_with = [&](Reply problem) {
        return Parsed<Request>{
            .state = State::done, .size = bytes.size(), .value = {.problem = problem, .target = {}}};
    };
    if (bytes[1] != kConnect) return refuse_with(Reply::unknown_command);
    if (!known_type(byte_at(bytes, 3))) return refuse_with(Reply::unknown_address_type);
    const std::optional<std::size_t> size = address_size(bytes.substr(3));
    if (!size || bytes.size() < 3 + *size) return {};
    return {
        .state = State::done, .size = 3 + *size, .value = {.target = read_target(bytes.substr(3, *size))}};
}

std::string write_reply(Reply reply) {
    return std::string{kVersion, static_cast<char>(reply), 0, kV4, 0, 0, 0, 0, 0, 0};
}

std::string write_greeting(bool with_login) {
    return with_login ? std::string{kVersion, 2, kNone, kLogin} : std::string{kVersion, 1, kNone};
}

std::string write_login(std::string_view user, std::string_view password) {
    OYAT_ASSERT(user.size() <= kMostText && password.size() <= kMostText);
    std::string bytes{kLoginVersion, static_cast<char>(user.size())};
    bytes.append(user).push_back(static_cast<char>(password.size()));
    return bytes.append(password);
}

std::string write_request(const Target& target) {
    std::string bytes{kVersion, kConnect, 0};
    if (!target.address) {
        OYAT_ASSERT(target.name.size() <= kMostText);
        bytes += {kName, static_cast<char>(target.name.size())};
        bytes += target.name;
    } else if (target.address->is_v4()) {
        bytes += static_cast<char>(kV4);
        for (int shift = 24; shift >= 0; shift -= 8)
            bytes += static_cast<char>(target.address->to_v4() >> shift);
    } else {
        bytes += static_cast<char>(kV6);
        for (const std::uint8_t byte : target.address->bytes()) bytes += static_cast<char>(byte);
    }
    bytes += {static_cast<char>(target.port >> 8), static_cast<char>(target.port & 0xFF)};
    return bytes;
}

Parsed<Reply> parse_reply(std::string_view bytes) {
    using State = Parsed<Reply>::State;
    if (bytes.empty()) return {};
    if (bytes[0] != kVersion) return {.state = State::broken};
    if (bytes.size() < 4) return {};
    if (!known_type(byte_at(bytes, 3))) return {.state = State::broken};
    const std::optional<std::size_t> size = address_size(bytes.substr(3));
    if (!size || bytes.size() < 3 + *size) return {};
    return {.state = State::done, .size = 3 + *size, .value = static_cast<Reply>(bytes[1])};
}

}  // namespace oyat::egress::socks
