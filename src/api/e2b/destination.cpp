#include "api/e2b/destination.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace oyat::e2b {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_label_char(char c) {
    return (c >= 'a' && c <= 'z') || is_digit(c);
}

bool all_of(std::string_view text, bool (*test)(char)) {
    return !text.empty() && std::ranges::all_of(text, test);
}

std::uint16_t port_of(std::string_view text) {
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    return error == std::errc{} && end == text.data() + text.size() ? port : 0;
}

std::optional<ToPort> by_host(const http::RequestHead& head) {
    const std::string_view label = std::string_view{head.host}.substr(0, head.host.find('.'));
    const std::size_t dash = label.find('-');
    if (dash == std::string_view::npos) return std::nullopt;
    const std::string_view port = label.substr(0, dash);
    const std::string_view sandbox = label.substr(dash + 1);
    if (!all_of(port, is_digit) || !all_of(sandbox, is_label_char)) return std::nullopt;
    return ToPort{std::string{sandbox}, port_of(port), head.target, true};
}

// One pair of routing headers; forks of the client bring names of their own.
Destination by_headers(const http::RequestHead& head, std::string_view id_name, std::string_view port_name) {
    const std::size_t ids = head.fields.count(id_name);
    const std::size_t ports = head.fields.count(port_name);
    if (ids == 0 && ports == 0) return ToServer{};
    if (ids != 1 || ports != 1) {
        return Contradiction{"headers " + std::string{id_name} + " and " + std::string{port_name} +
                             " come together, once each"};
    }
    const std::string_view id = head.fields.get(id_name);
    if (!all_of(id, is_label_char))
        return Contradiction{"header " + std::string{id_name} + " names no sandbox"};
    return ToPort{std::string{id}, port_of(head.fields.get(port_name)), head.target};
}

Destination by_path(const http::RequestHead& head) {
    std::string_view rest = head.target;
    if (!rest.starts_with("/s/")) return ToServer{};
    rest.remove_prefix(3);
    const std::size_t id_end = rest.find('/');
    if (id_end == std::string_view::npos) return Contradiction{"the form is /s/<sandbox>/<port>/"};
    const std::string_view id = rest.substr(0, id_end);
    rest.remove_prefix(id_end + 1);
    const std::size_t port_end = std::min(rest.find_first_of("/?"), rest.size());
    if (!all_of(id, is_label_char)) return Contradiction{"the path names no sandbox"};
    const std::string_view beyond = rest.substr(port_end);
    ToPort to{std::string{id}, port_of(rest.substr(0, port_end)), std::string{beyond}};
    if (!beyond.starts_with('/')) to.target.insert(0, "/");
    return to;
}

}  // namespace

Destination destination_of(const http::RequestHead& head) {
    if (std::optional<ToPort> to = by_host(head)) return *std::move(to);
    Destination to = by_headers(head, "E2b-Sandbox-Id", "E2b-Sandbox-Port");
    if (!std::holds_alternative<ToServer>(to)) return to;
    to = by_headers(head, "Novita-Sandbox-Id", "Novita-Sandbox-Port");
    if (!std::holds_alternative<ToServer>(to)) return to;
    return by_path(head);
}

std::string_view path_of(std::string_view target) {
    return target.substr(0, target.find('?'));
}

std::string_view query_of(std::string_view target) {
    const std::size_t mark = target.find('?');
    return mark == std::string_view::npos ? std::string_view{} : target.substr(mark + 1);
}

}  // namespace oyat::e2b
