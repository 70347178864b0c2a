#include "api/native/error_answer.hpp"

#include "base/json_escape.hpp"
#include "http/error_status.hpp"

namespace oyat::native {
namespace {

bool is_about_sandbox(const Error& error) {
    return error.message().find("sandbox") != std::string::npos;
}

bool is_about_path(const Error& error) {
    return error.message().starts_with("path ");
}

}  // namespace

int status_of(const Error& error) noexcept {
    return http::status_of(error.code());
}

std::string_view hint_of(const Error& error) noexcept {
    switch (error.fault()) {
        case Fault::engine:
            return error.code() == Errc::unimplemented || error.code() == Errc::failed_precondition
                       ? "'oyat status' shows which engines there are"
                       : "see the log of oyat-keeper, and 'oyat status'";
        case Fault::image: return "'oyat template ls' shows which templates this machine has";
        case Fault::limit: return "'oyat status' shows the limits in force; /etc/oyat/limits raises them";
        case Fault::policy:
            return "'oyat policy explain' says which rule decides; 'oyat denied' shows what was refused";
        case Fault::agent: return "the sandbox may be damaged from inside; kill it and create another";
        case Fault::network:
        case Fault::upstream: return "'oyat logs' shows what the sandbox tried to reach";
        case Fault::oyat_operator: return "the operator's file is /etc/oyat/oyat.toml";
        default: break;
    }
    switch (error.code()) {
        case Errc::not_found: return is_about_sandbox(error) ? "'oyat ls' shows the sandboxes there are" : "";
        case Errc::denied:
            return is_about_path(error) ? "the user inside may not; name another, such as root"
                                        : "'oyat key ls' shows what each key may do";
        case Errc::failed_precondition:
            return is_about_sandbox(error) ? "'oyat ls' shows the state of each sandbox" : "";
        case Errc::unavailable: return "try again in some seconds";
        default: return "";
    }
}

std::string error_json(const Error& error) {
    std::string body = "{\"error\":{\"code\":\"";
    body += to_string(error.code());
    body += "\",\"message\":";
    append_json_string(body, error.message());
    body += ",\"fault\":\"";
    body += to_string(error.fault());
    body += "\",\"event\":";
    if (error.event().empty()) {
        body += "null";
    } else {
        append_json_string(body, error.event());
    }
    body += ",\"hint\":";
    if (const std::string_view hint = hint_of(error); hint.empty()) {
        body += "null";
    } else {
        append_json_string(body, hint);
    }
    body += "}}\n";
    return body;
}

}  // namespace oyat::native
