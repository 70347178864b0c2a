#include "core/exposure.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/hmac.hpp"
#include "base/id.hpp"

namespace oyat::core {
namespace {

namespace json = boost::json;

constexpr std::array<std::string_view, 4> kReaches{"closed", "token", "link", "public"};
constexpr std::string_view kPortMark = "${PORT}";
constexpr std::size_t kMaxLink = 128;

template <class T>
std::optional<T> number_in(std::string_view text) {
    T number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

std::string text_of(const json::value& value) {
    const json::string* text = value.if_string();
    return text != nullptr ? std::string{text->data(), text->size()} : std::string{};
}

// The port is signed too: a link to one page is no key to the next.
std::string signature(const Exposure& exposure, std::string_view sandbox, std::uint16_t port,
                      std::int64_t until) {
    return hmac_sha256_hex(exposure.token, "oyat port link\n" + std::string{sandbox} + "\n" +
                                               std::to_string(port) + "\n" + std::to_string(until));
}

enum class LinkVerdict { good, wrong, over };

LinkVerdict judge(const Exposure& exposure, std::string_view sandbox, std::uint16_t port,
                  std::string_view link, WallTime now) {
    const std::optional<WallTime> until = end_of_link(link);
    if (!until) return LinkVerdict::wrong;
    const std::string_view given = link.substr(link.find('.') + 1);
    const std::int64_t seconds = unix_millis(*until) / 1000;
    if (!equal_constant_time(given, signature(exposure, sandbox, port, seconds))) return LinkVerdict::wrong;
    return now < *until ? LinkVerdict::good : LinkVerdict::over;
}

}  // namespace

std::string_view to_string(Reach reach) noexcept {
    return kReaches[static_cast<std::size_t>(reach)];
}

Result<Reach> parse_reach(std::string_view word) {
    const auto found = std::ranges::find(kReaches, word);
    if (found == kReaches.end()) {
        return refuse(Errc::invalid_argument, "a port is closed, token, link or public");
    }
    return static_cast<Reach>(found - kReaches.begin());
}

Reach Exposure::of(std::uint16_t port) const {
    const auto found = ports.find(port);
    return std::min(found != ports.end() ? found->second : usual, most);
}

Reach Exposure::otherwise() const {
    return std::min(usual, most);
}

Exposure Exposure::in_force() const {
    Exposure capped = *this;
    capped.usual = otherwise();
    for (auto& [port, reach] : capped.ports) reach = std::min(reach, most);
    return capped;
}

std::string Exposure::masked_host(std::uint16_t port) const {
    std::string host = host_mask;
    if (const std::size_t mark = host.find(kPortMark); mark != std::string::npos) {
        host.replace(mark, kPortMark.size(), std::to_string(port));
    }
    return host;
}

json::object to_json(const Exposure& exposure) {
    json::object ports;
    for (const auto& [port, reach] : exposure.ports) ports[std::to_string(port)] = to_string(reach);
    json::array tls_ports(exposure.tls_ports.begin(), exposure.tls_ports.end());
    return {{"usual", to_string(exposure.usual)},
            {"ports", std::move(ports)},
            {"token", exposure.token},
            {"host_mask", exposure.host_mask},
            {"tls_ports", std::move(tls_ports)}};
}

Result<Exposure> exposure_from_json(const json::object& from) {
    const auto bad = [] { return refuse(Errc::invalid_argument, "sandbox record: bad exposure"); };
    Exposure exposure;
    for (const auto& [name, value] : from) {
        if (name == "token") {
            exposure.token = text_of(value);
        } else if (name == "host_mask") {
            exposure.host_mask = text_of(value);
        } else if (name == "usual") {
            const Result<Reach> reach = parse_reach(text_of(value));
            if (!reach) return bad();
            exposure.usual = *reach;
        } else if (name == "tls_ports") {
            if (!value.is_array()) return bad();
            for (const json::value& each : value.get_array()) {
                boost::system::error_code wrong;
                exposure.tls_ports.insert(each.to_number<std::uint16_t>(wrong));
                if (wrong) return bad();
            }
        } else if (name == "ports") {
            if (!value.is_object()) return bad();
            for (const auto& [number, word] : value.get_object()) {
                const auto port = number_in<std::uint16_t>(std::string_view{number.data(), number.size()});
                const Result<Reach> reach = parse_reach(text_of(word));
                if (!port || !reach) return bad();
                exposure.ports[*port] = *reach;
            }
        }
    }
    return exposure;
}

std::string sign_link(const Exposure& exposure, std::string_view sandbox, std::uint16_t port,
                      WallTime until) {
    const std::int64_t seconds = unix_millis(until) / 1000;
    return std::to_string(seconds) + "." + signature(exposure, sandbox, port, seconds);
}

std::optional<WallTime> end_of_link(std::string_view link) {
    constexpr std::int64_t kLatest = 1ll << 36;  // far beyond any life, and far from overflow
    const std::size_t dot = link.find('.');
    if (dot == std::string_view::npos || link.size() > kMaxLink) return std::nullopt;
    const auto seconds = number_in<std::int64_t>(link.substr(0, dot));
    if (!seconds || *seconds < 0 || *seconds > kLatest) return std::nullopt;
    return from_unix_millis(*seconds * 1000);
}

Admittance admit(const Exposure& exposure, std::string_view sandbox, std::uint16_t port,
                 const Credentials& credentials, WallTime now) {
    const Reach reach = exposure.of(port);
    if (reach == Reach::closed) return {.reason = "The port is closed to visitors"};
    if (reach == Reach::anyone) return {.granted = true, .by = "anyone"};
    if (credentials.token) {
        // A wrong token is wrong, whatever else the visitor brings.
        if (exposure.token.empty() || !equal_constant_time(*credentials.token, exposure.token)) {
            return {.reason = "The traffic access token is wrong"};
        }
        return {.granted = true, .by = "token"};
    }
    if (reach == Reach::link && credentials.link && !exposure.token.empty()) {
        switch (judge(exposure, sandbox, port, *credentials.link, now)) {
            case LinkVerdict::good: return {.granted = true, .by = "link"};
            case LinkVerdict::wrong: return {.reason = "The link is not genuine"};
            case LinkVerdict::over: return {.reason = "The link is over"};
        }
    }
    return {.reason = reach == Reach::link ? "The port wants a link or the traffic access token"
                                           : "The port wants the traffic access token"};
}

}  // namespace oyat::core
