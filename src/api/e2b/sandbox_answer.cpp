#include "api/e2b/sandbox_answer.hpp"

#include "api/e2b/visitor.hpp"
#include "base/json_escape.hpp"

namespace oyat::e2b {
namespace {

constexpr std::string_view kNotFound = "The sandbox was not found";
constexpr std::string_view kClosedPort = "The sandbox is running but port is not open";

// Nothing of the request is repeated in the page.
struct Page {
    std::string_view sentence;
    std::string_view advice = {};
};

std::string page_of(const Page& shown) {
    std::string page =
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>oyat</title>"
        "<style>body{font:16px/1.5 sans-serif;max-width:34em;margin:15vh auto;padding:0 "
        "1em}</style></head><body><h1>";
    page.append(shown.sentence).append(".</h1>");
    if (!shown.advice.empty()) page.append("<p>").append(shown.advice).append(".</p>");
    page += "</body></html>";
    return page;
}

Task<> answer(http::Exchange& exchange, int status, Page page, std::string json) {
    // Any page may read why its request failed.
    http::Fields fields{{"Access-Control-Allow-Origin", "*"},
                        {"Cache-Control", "no-store"},
                        {"Referrer-Policy", "no-referrer"}};
    if (is_browser(exchange.request())) {
        fields.add("Content-Type", "text/html; charset=utf-8");
        co_await exchange.respond(status, std::move(fields), page_of(page));
    } else {
        fields.add("Content-Type", "application/json");
        co_await exchange.respond(status, std::move(fields), std::move(json));
    }
}

}  // namespace

Task<> answer_no_sandbox(http::Exchange& exchange, std::string sandbox) {
    std::string json = "{\"sandboxId\":" + json_string(sandbox) + ",\"message\":" + json_string(kNotFound) +
                       ",\"code\":502}";
    co_await answer(exchange, 502, {kNotFound, "It has ended, is paused, or never was"}, std::move(json));
}

Task<> answer_closed_port(http::Exchange& exchange, std::string sandbox, std::uint16_t port) {
    std::string json = "{\"sandboxId\":" + json_string(sandbox) + ",\"message\":" + json_string(kClosedPort) +
                       ",\"port\":" + std::to_string(port) + ",\"code\":502}";
    co_await answer(
        exchange, 502,
        {kClosedPort,
         "Nothing inside listens on this port yet: start a server there and load this page again"},
        std::move(json));
}

Task<> answer_refused(http::Exchange& exchange, std::string sandbox, int status, std::string sentence) {
    std::string json = "{\"sandboxId\":" + json_string(sandbox) + ",\"message\":" + json_string(sentence) +
                       ",\"code\":" + std::to_string(status) + "}";
    co_await answer(exchange, status, {"The sandbox did not take the request"}, std::move(json));
}

Task<> answer_not_admitted(http::Exchange& exchange, std::string sandbox, std::string_view reason) {
    std::string json =
        "{\"sandboxId\":" + json_string(sandbox) + ",\"message\":" + json_string(reason) + ",\"code\":403}";
    co_await answer(exchange, 403, {reason, "Ask who gave you this address for a new link"}, std::move(json));
}

}  // namespace oyat::e2b
