#include "rpc/error_body.hpp"

#include "base/json_escape.hpp"
#include "rpc/code.hpp"

namespace oyat::rpc {

std::string error_body(const Error& error) {
    std::string body = "{\"code\":\"";
    body += to_string(code_of(error));
    body += "\",\"message\":";
    append_json_string(body, error.message());
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

}  // namespace oyat::rpc
