#include "egress/first_bytes.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "policy/names.hpp"

namespace oyat::egress {
namespace {

using Kind = FirstBytes::Kind;

constexpr std::uint8_t kHandshakeRecord = 22, kClientHello = 1;  // RFC 8446, 4 and 5.1
constexpr std::size_t kMaxRecord = 16 * 1024;
constexpr std::uint16_t kServerName = 0, kEncryptedServerName = 0xffce;  // RFC 6066; a draft before RFC 9849
constexpr std::uint8_t kHostName = 0;

constexpr std::size_t kMaxMethod = 20;
constexpr std::string_view kPriorKnowledge = "PRI * HTTP/2";                                 // RFC 9113, 3.4
constexpr std::string_view kProxyHeader{"\r\n\r\n\0\r\nQUIT\n", 12}, kProxyLine = "PROXY ";  // of HAProxy

FirstBytes refused(std::string_view why) {
    return {.kind = Kind::refused, .name = {}, .why = why};
}

// Takes big-endian numbers and length-prefixed parts off the front of a hello. Once something is missing,
// everything is.
class Reader {
public:
    explicit Reader(std::string_view bytes) : bytes_{bytes} {}

    std::size_t number(std::size_t width) {
        std::size_t value = 0;
        for (const char c : take(width)) value = value << 8 | static_cast<std::uint8_t>(c);
        return value;
    }
    std::string_view take(std::size_t count) {
        if (count > bytes_.size()) {
            ok_ = false;
            bytes_ = {};
            return {};
        }
        const std::string_view part = bytes_.substr(0, count);
        bytes_.remove_prefix(count);
        return part;
    }
    std::string_view part(std::size_t width) { return take(number(width)); }
    [[nodiscard]] bool at_end() const { return bytes_.empty(); }
    [[nodiscard]] bool ok() const { return ok_; }

private:
    std::string_view bytes_;
    bool ok_ = true;
};

FirstBytes read_server_names(std::string_view extension) {
    Reader outer{extension};
    Reader names{outer.part(2)};
    if (!outer.ok() || !outer.at_end()) return refused("broken-hello");
    const std::size_t type = names.number(1);
    const std::string_view name = names.part(2);
    if (!names.ok()) return refused("broken-hello");
    if (!names.at_end()) return refused("two-server-names");
    if (type != kHostName) return refused("server-name-type");
    Result<std::string> canonical = policy::canonical_host(name);
    if (!canonical) return refused("server-name");
    return {.kind = Kind::tls, .name = *std::move(canonical), .why = {}};
}

FirstBytes read_hello(std::string_view hello) {
    Reader reader{hello};
    reader.take(2 + 32);  // version, random
    reader.part(1);       // session id
    reader.part(2);       // cipher suites
    reader.part(1);       // compression methods
    FirstBytes found{.kind = Kind::tls, .name = {}, .why = {}};
    if (reader.ok() && reader.at_end()) return found;
    Reader extensions{reader.part(2)};
    if (!reader.ok() || !reader.at_end()) return refused("broken-hello");
    bool named = false;
    while (!extensions.at_end()) {
        const std::size_t type = extensions.number(2);
        const std::string_view body = extensions.part(2);
        if (!extensions.ok()) return refused("broken-hello");
        if (type == kEncryptedServerName) return refused("encrypted-server-name");
        if (type != kServerName) continue;
        if (std::exchange(named, true)) return refused("two-server-names");
        found = read_server_names(body);
        if (found.kind == Kind::refused) return found;
    }
    return found;
}

// The length of the handshake message that begins here with its head of four bytes; nothing before that is
// there.
std::optional<std::size_t> message_size(std::string_view handshake) {
    if (handshake.size() < 4) return std::nullopt;
    return 4 + Reader{handshake.substr(1)}.number(3);
}

// The hello may lie in any number of records, and these in any number of segments. What follows it (early
// data of RFC 8446, 2.3) is the server's affair, but not within its last record.
FirstBytes look_at_tls(std::string_view bytes) {
    std::string handshake;
    std::optional<std::size_t> size;
    while (!size || handshake.size() < *size) {
        if (bytes.empty()) return {};
        if (static_cast<std::uint8_t>(bytes[0]) != kHandshakeRecord) return refused("broken-hello");
        if (bytes.size() >= 2 && bytes[1] != 3) return refused("tls-version");
        if (bytes.size() < 5) return {};
        const std::size_t record = Reader{bytes.substr(3)}.number(2);
        if (record == 0 || record > kMaxRecord) return refused("broken-hello");
        handshake += bytes.substr(5, record);
        if (!handshake.empty() && static_cast<std::uint8_t>(handshake[0]) != kClientHello)
            return refused("broken-hello");
        size = message_size(handshake);
        if (size > FirstBytes::kMost) return refused("hello-size");
        if (bytes.size() < 5 + record) return {};
        bytes.remove_prefix(5 + record);
    }
    if (handshake.size() > *size) return refused("broken-hello");
    return read_hello(std::string_view{handshake}.substr(4));
}

// A hello in the form of SSL 2.0, which OpenSSL still takes (RFC 5246, E.2): it has no server name. True also
// for the beginning of one, which four bytes tell for sure.
bool may_be_old_hello(std::string_view bytes) {
    if ((static_cast<std::uint8_t>(bytes[0]) & 0x80) == 0) return false;
    if (bytes.size() > 2 && bytes[2] != kClientHello) return false;
    return bytes.size() < 4 || bytes[3] == 3 || bytes[3] == 0;
}

bool is_begun(std::string_view bytes, std::string_view whole) {
    return bytes.starts_with(whole.substr(0, bytes.size()));
}

// "GET /", "OPTIONS *", "GET http://...", "CONNECT a.test:443", in any case of letters: lenient servers take
// all of them.
FirstBytes look_at_text(std::string_view bytes) {
    // Servers skip empty lines, some also spaces, before a request (RFC 9112, 2.2): a request in disguise.
    constexpr std::string_view kBlank = " \t\v\f";
    if (kBlank.find(bytes[0]) != std::string_view::npos || bytes[0] == '\r' || bytes[0] == '\n')
        return refused("blank-start");
    // Any token is a method to some server (RFC 9110, 9.1). One that begins with a digit is git's own
    // protocol.
    const auto is_token = [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
               std::string_view{"!#$%&'*+-.^_`|~"}.find(c) != std::string_view::npos;
    };
    if (bytes[0] >= '0' && bytes[0] <= '9') return {.kind = Kind::other, .name = {}, .why = {}};
    const auto* const end = std::ranges::find_if_not(bytes, is_token);
    const auto length = static_cast<std::size_t>(end - bytes.begin());
    if (length == 0 || length > kMaxMethod) return {.kind = Kind::other, .name = {}, .why = {}};
    if (length == bytes.size()) return {};
    if (kBlank.find(bytes[length]) == std::string_view::npos)
        return {.kind = Kind::other, .name = {}, .why = {}};
    if (length + 1 == bytes.size()) return {};
    if (bytes.starts_with("CONNECT ")) return {.kind = Kind::http, .name = {}, .why = {}};
    constexpr std::string_view kTargets = "/*hH \t";
    const bool target = kTargets.find(bytes[length + 1]) != std::string_view::npos;
    return {.kind = target ? Kind::http : Kind::other, .name = {}, .why = {}};
}

}  // namespace

FirstBytes look_at(std::string_view bytes) {
    if (bytes.empty()) return {};
    if (static_cast<std::uint8_t>(bytes[0]) == kHandshakeRecord) return look_at_tls(bytes);
    for (const std::string_view forbidden : {kPriorKnowledge, kProxyHeader, kProxyLine}) {
        if (!is_begun(bytes, forbidden)) continue;
        if (bytes.size() < forbidden.size()) return {};
        return refused(forbidden == kPriorKnowledge ? "h2c" : "proxy-protocol");
    }
    if (may_be_old_hello(bytes)) return bytes.size() < 4 ? FirstBytes{} : refused("old-hello");
    return look_at_text(bytes);
}

}  // namespace oyat::egress
