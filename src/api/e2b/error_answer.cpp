#include "api/e2b/error_answer.hpp"

#include "base/json_escape.hpp"
#include "http/error_status.hpp"

namespace oyat::e2b {

int control_status(const Error& error) noexcept {
    return http::status_of(error.code());
}

int agent_status(const Error& error) noexcept {
    switch (error.code()) {
        case Errc::exhausted: return 507;            // no space, no inodes
        case Errc::failed_precondition: return 400;  // a directory where a file was meant
        case Errc::already_exists: return 400;
        case Errc::unavailable: return 500;  // of a living sandbox; 502 would tell the client that it is gone
        default: return http::status_of(error.code());
    }
}

std::string agent_error_body(int status, std::string_view message) {
    std::string body = "{\"code\":" + std::to_string(status) + ",\"message\":";
    append_json_string(body, message);
    body += '}';
    return body;
}

std::string control_error_body(int status, const Error& error) {
    std::string body = agent_error_body(status, error.message());
    body.pop_back();
    body += ",\"fault\":\"";
    body += to_string(error.fault());
    body += '"';
    if (!error.event().empty()) {
        body += ",\"event\":";
        append_json_string(body, error.event());
    }
    body += '}';
    return body;
}

Task<> answer_control_error(http::Exchange& exchange, Error error) {
    const int status = control_status(error);
    http::Fields fields{{"Content-Type", "application/json"}};
    http::add_retry_after(fields, status);
    co_await exchange.respond(status, std::move(fields), control_error_body(status, error));
}

Task<> answer_agent_error(http::Exchange& exchange, Error error) {
    const int status = agent_status(error);
    http::Fields fields{{"Content-Type", "application/json"},
                        {"Oyat-Fault", std::string{to_string(error.fault())}}};
    if (!error.event().empty()) fields.add("Oyat-Event", error.event());
    co_await exchange.respond(status, std::move(fields), agent_error_body(status, error.message()));
}

Task<> answer_agent_error(http::Exchange& exchange, int status, std::string message) {
    co_await exchange.respond(status, {{"Content-Type", "application/json"}, {"Oyat-Fault", "client"}},
                              agent_error_body(status, message));
}

}  // namespace oyat::e2b
