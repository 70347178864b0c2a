#include "agent/tcp_table.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

namespace oyat::agent {
namespace {

// States of the kernel's tcp_states.h.
constexpr unsigned kEstablished = 1, kSynSent = 2, kSynReceived = 3, kFinWait1 = 4, kFinWait2 = 5,
                   kCloseWait = 8;

constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};

std::string_view next_word(std::string_view& line) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(word.size());
    return word;
}

template <class Number>
std::optional<Number> number(std::string_view text, int base) {
    Number value{};
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, value, base);
    if (text.empty() || error != std::errc{} || at != end) return std::nullopt;
    return value;
}

// "0100007F:0050": words of four bytes, each as the machine's own number.
std::optional<TcpEnd> parse_end(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon != 8 && colon != 32) return std::nullopt;
    TcpEnd end;
    std::size_t at = 0;
    if (colon == 8) {
        std::ranges::copy(kMapped, end.address.begin());
        at = kMapped.size();
    }
    for (std::size_t digit = 0; digit < colon; digit += 8, at += 4) {
        const auto word = number<std::uint32_t>(text.substr(digit, 8), 16);
        if (!word) return std::nullopt;
        std::memcpy(end.address.data() + at, &*word, 4);
    }
    const auto port = number<std::uint16_t>(text.substr(colon + 1), 16);
    if (!port) return std::nullopt;
    end.port = *port;
    return end;
}

// A connection that only the kernel still closes is nobody's loss.
bool would_be_cut(unsigned state, std::uint64_t inode) {
    switch (state) {
        case kEstablished:
        case kSynSent:
        case kSynReceived:
        case kCloseWait: return true;
        case kFinWait1:
        case kFinWait2: return inode != 0;
        default: return false;
    }
}

bool is_mapped(const TcpEnd& end) {
    return std::equal(kMapped.begin(), kMapped.end(), end.address.begin());
}

}  // namespace

bool TcpEnd::is_loopback() const {
    if (is_mapped(*this)) return address[12] == 127;
    return address.back() == 1 &&
           std::all_of(address.begin(), address.end() - 1, [](auto b) { return b == 0; });
}

std::string TcpEnd::text() const {
    std::string out;
    if (is_mapped(*this)) {
        for (std::size_t i = 12; i < 16; ++i) out += (i == 12 ? "" : ".") + std::to_string(address[i]);
    } else {
        constexpr std::string_view kDigits = "0123456789abcdef";
        out = "[";
        for (std::size_t i = 0; i < 16; ++i) {
            if (i != 0 && i % 2 == 0) out += ':';
            out += kDigits[address[i] >> 4];
            out += kDigits[address[i] & 15];
        }
        out += "]";
    }
    return out + ":" + std::to_string(port);
}

std::vector<TcpConnection> outside_connections(std::string_view table) {
    std::vector<TcpConnection> found;
    while (!table.empty()) {
        std::string_view line = table.substr(0, table.find('\n'));
        table.remove_prefix(std::min(line.size() + 1, table.size()));
        // "  0: LOCAL REMOTE STATE queues timer retransmits uid timeout inode ..."
        if (!next_word(line).ends_with(':')) continue;
        const auto local = parse_end(next_word(line));
        const auto remote = parse_end(next_word(line));
        const auto state = number<unsigned>(next_word(line), 16);
        for (int skipped = 0; skipped < 5; ++skipped) static_cast<void>(next_word(line));
        const auto inode = number<std::uint64_t>(next_word(line), 10);
        if (!local || !remote || !state || !would_be_cut(*state, inode.value_or(0))) continue;
        if (remote->is_loopback() || remote->address == local->address) continue;
        found.push_back({.local = *local, .remote = *remote, .inode = inode.value_or(0)});
    }
    return found;
}

}  // namespace oyat::agent
