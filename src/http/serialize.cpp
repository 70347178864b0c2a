#include "http/serialize.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/error.hpp"
#include "http/grammar.hpp"

namespace oyat::http {
namespace {

std::string_view reason_of(int status) {
    switch (status) {
        case 100: return "Continue";
        case 101: return "Switching Protocols";
        case 200: return "OK";
        case 201: return "Created";
        case 202: return "Accepted";
        case 204: return "No Content";
        case 206: return "Partial Content";
        case 301: return "Moved Permanently";
        case 302: return "Found";
        case 303: return "See Other";
        case 304: return "Not Modified";
        case 307: return "Temporary Redirect";
        case 308: return "Permanent Redirect";
        case 400: return "Bad Request";
        case 401: return "Unauthorized";
        case 403: return "Forbidden";
        case 404: return "Not Found";
        case 405: return "Method Not Allowed";
        case 406: return "Not Acceptable";
        case 408: return "Request Timeout";
        case 409: return "Conflict";
        case 412: return "Precondition Failed";
        case 413: return "Content Too Large";
        case 415: return "Unsupported Media Type";
        case 416: return "Range Not Satisfiable";
        case 421: return "Misdirected Request";
        case 422: return "Unprocessable Content";
        case 429: return "Too Many Requests";
        case 431: return "Request Header Fields Too Large";
        case 499: return "Client Closed Request";
        case 500: return "Internal Server Error";
        case 501: return "Not Implemented";
        case 502: return "Bad Gateway";
        case 503: return "Service Unavailable";
        case 504: return "Gateway Timeout";
        case 507: return "Insufficient Storage";
        default: return "Status";  // the phrase carries no meaning
    }
}

constexpr std::array<std::string_view, 10> kConnectionFields = {
    "Connection",        "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization", "TE",
    "Transfer-Encoding", "Trailer",    "Upgrade",          "Content-Length"};

}  // namespace

void append_status_line(std::string& out, int status) {
    out.append("HTTP/1.1 ")
        .append(std::to_string(status))
        .append(" ")
        .append(reason_of(status))
        .append("\r\n");
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
    if (!is_token(name) || !is_field_value(value)) {
        throw Error{Errc::invalid_argument, "a header field has characters that may not be in one"};
    }
    out.append(name).append(": ").append(value).append("\r\n");
}

bool is_connection_field(const Fields& fields, std::string_view name) {
    return std::ranges::any_of(kConnectionFields,
                               [name](std::string_view other) { return equal_ignoring_case(name, other); }) ||
           fields.has_token("Connection", name);
}

std::string chunk_head(std::size_t size) {
    std::array<char, 18> digits;
    char* end = std::to_chars(digits.data(), digits.data() + digits.size(), size, 16).ptr;
    return std::string{digits.data(), end}.append("\r\n");
}

}  // namespace oyat::http
