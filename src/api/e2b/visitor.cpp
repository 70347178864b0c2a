#include "api/e2b/visitor.hpp"

#include <algorithm>
#include <chrono>

#include "http/fields.hpp"

namespace oyat::e2b {
namespace {

// The prefix makes browsers refuse it from anybody but this very host, by TLS (RFC 6265bis, 4.1.3.2).
std::string_view cookie_name(const http::RequestHead& head) {
    return head.tls ? "__Host-oyat-link" : "oyat-link";
}

// Takes "name=value" out of a list and returns the value of the first; the others of that name go too.
std::optional<std::string> take_out(std::string& list, std::string_view name, std::string_view separator) {
    std::optional<std::string> value;
    std::string kept;
    std::string_view rest = list;
    for (bool more = true; more;) {
        const std::size_t end = rest.find(separator.front());
        std::string_view piece = rest.substr(0, end);
        more = end != std::string_view::npos;
        if (more) rest.remove_prefix(end + 1);
        if (separator.size() > 1) piece.remove_prefix(std::min(piece.find_first_not_of(' '), piece.size()));
        if (piece.starts_with(name) && piece.substr(name.size()).starts_with('=')) {
            if (!value) value = piece.substr(name.size() + 1);
            continue;
        }
        if (!kept.empty() && !piece.empty()) kept.append(separator);
        kept.append(piece);
    }
    if (value) list = std::move(kept);
    return value;
}

std::optional<std::string> token_of(const http::RequestHead& head) {
    constexpr std::string_view kToken = "E2B-Traffic-Access-Token";
    if (!head.fields.has(kToken)) return std::nullopt;
    // Two values: which of them the client meant is not ours to guess.
    return head.fields.count(kToken) == 1 ? std::string{head.fields.get(kToken)} : std::string{};
}

bool only_reads(const http::RequestHead& head) {
    return (head.method == "GET" || head.method == "HEAD") && !head.wants_upgrade;
}

}  // namespace

Visitor visitor_of(const http::RequestHead& head, const ToPort& to) {
    Visitor visitor{.credentials = {.token = token_of(head)}, .target = to.target};
    if (const std::size_t mark = to.target.find('?'); mark != std::string::npos) {
        std::string query = to.target.substr(mark + 1);
        if (auto link = take_out(query, kLinkParameter, "&")) {
            visitor.credentials.link = *std::move(link);
            visitor.link_from = Visitor::LinkFrom::query;
            visitor.target.resize(mark);
            if (!query.empty()) visitor.target.append("?").append(query);
        }
    }
    if (!to.by_host || head.fields.count("Cookie") != 1) return visitor;
    std::string cookies{head.fields.get("Cookie")};
    if (auto link = take_out(cookies, cookie_name(head), "; ")) {
        visitor.cookies = std::move(cookies);
        if (visitor.link_from == Visitor::LinkFrom::nowhere) {
            visitor.credentials.link = *std::move(link);
            visitor.link_from = Visitor::LinkFrom::cookie;
        }
    }
    return visitor;
}

std::string location_here(std::string_view target) {
    const bool leads_away = target.size() > 1 && (target[1] == '/' || target[1] == '\\');
    return (leads_away ? "/." : "") + std::string{target};
}

std::string link_cookie(const http::RequestHead& head, std::string_view link, WallTime end, WallTime now) {
    const auto left =
        std::max(std::chrono::duration_cast<std::chrono::seconds>(end - now), std::chrono::seconds{0});
    std::string cookie{cookie_name(head)};
    cookie.append("=").append(link).append("; Path=/; HttpOnly; SameSite=Lax; Max-Age=");
    cookie.append(std::to_string(left.count()));
    if (head.tls) cookie.append("; Secure");
    return cookie;
}

bool is_from_own_page(const http::RequestHead& head) {
    if (const std::string_view site = head.fields.get("Sec-Fetch-Site"); !site.empty()) {
        const bool follows_a_link = head.fields.get("Sec-Fetch-Mode") == "navigate" &&
                                    head.fields.get("Sec-Fetch-Dest") == "document" && only_reads(head);
        return site == "same-origin" || site == "none" || follows_a_link;
    }
    // Older browsers name the page's origin where it can do harm: in a WebSocket's and in every POST.
    const std::string_view origin = head.fields.get("Origin");
    if (origin.empty()) return true;
    return origin == (head.tls ? "https://" : "http://") + std::string{head.fields.get("Host")};
}

bool is_browser(const http::RequestHead& head) {
    return head.fields.get("User-Agent").starts_with("Mozilla/") &&
           head.fields.get("Accept").find("text/html") != std::string_view::npos;
}

}  // namespace oyat::e2b
