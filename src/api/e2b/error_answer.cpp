#include "api/e2b/error_answer.hpp"

#include "base/json_escape.hpp"

namespace oyat::e2b {
namespace {

// The part that both planes agree on.
int common_status(Errc code) noexcept {
    switch (code) {
        case Errc::invalid_argument: return 400;
        case Errc::not_found: return 404;
        case Errc::already_exists: return 409;
        case Errc::failed_precondition: return 409;
        case Errc::exhausted: return 429;
        case Errc::denied: return 403;
        case Errc::unavailable: return 503;
        case Errc::deadline: return 504;
        case Errc::canceled: return 503;
        case Errc::unimplemented: return 501;
        case Errc::internal: return 500;
    }
    return 500;
}

}  // namespace

int control_status(const Error& error) noexcept {
    return common_status(error.code());
}

int agent_status(const Error& error) noexcept {
    switch (error.code()) {
        case Errc::exhausted: return 507;            // no space, no inodes
        case Errc::failed_precondition: return 400;  // a directory where a file was meant
        case Errc::already_exists: return 400;
        case Errc::unavailable: return 500;  // of a living sandbox; 502 would tell the client that it is gone
        default: return common_status(error.code());
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
    co_await exchange.respond(status, {{"Content-Type", "application/json"}},
                              control_error_body(status, error));
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
