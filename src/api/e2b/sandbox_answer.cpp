#include "api/e2b/sandbox_answer.hpp"

#include "base/json_escape.hpp"

namespace oyat::e2b {
namespace {

constexpr std::string_view kNotFound = "The sandbox was not found";
constexpr std::string_view kClosedPort = "The sandbox is running but port is not open";

bool is_browser(const http::RequestHead& head) {
    return head.fields.get("User-Agent").starts_with("Mozilla/") &&
           head.fields.get("Accept").find("text/html") != std::string_view::npos;
}

// Nothing of the request is repeated in the page.
std::string page_of(std::string_view sentence) {
    std::string page =
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>oyat</title>"
        "<style>body{font:16px/1.5 sans-serif;max-width:34em;margin:15vh auto;padding:0 "
        "1em}</style></head><body><h1>";
    page += sentence;
    page += ".</h1></body></html>";
    return page;
}

Task<> answer(http::Exchange& exchange, int status, std::string_view page_sentence, std::string json) {
    // Any page may read why its request failed.
    http::Fields fields{{"Access-Control-Allow-Origin", "*"}, {"Cache-Control", "no-store"}};
    if (is_browser(exchange.request())) {
        fields.add("Content-Type", "text/html; charset=utf-8");
        co_await exchange.respond(status, std::move(fields), page_of(page_sentence));
    } else {
        fields.add("Content-Type", "application/json");
        co_await exchange.respond(status, std::move(fields), std::move(json));
    }
}

}  // namespace

Task<> answer_no_sandbox(http::Exchange& exchange, std::string sandbox) {
    std::string json = "{\"sandboxId\":" + json_string(sandbox) + ",\"message\":" + json_string(kNotFound) +
                       ",\"code\":502}";
    co_await answer(exchange, 502, kNotFound, std::move(json));
}

Task<> answer_closed_port(http::Exchange& exchange, std::string sandbox, std::uint16_t port) {
    std::string json = "{\"sandboxId\":" + json_string(sandbox) + ",\"message\":" + json_string(kClosedPort) +
                       ",\"port\":" + std::to_string(port) + ",\"code\":502}";
    co_await answer(exchange, 502, kClosedPort, std::move(json));
}

Task<> answer_refused(http::Exchange& exchange, std::string sandbox, int status, std::string sentence) {
    std::string json = "{\"sandboxId\":" + json_string(sandbox) + ",\"message\":" + json_string(sentence) +
                       ",\"code\":" + std::to_string(status) + "}";
    co_await answer(exchange, status, "The sandbox did not take the request", std::move(json));
}

}  // namespace oyat::e2b
