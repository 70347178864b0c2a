#pragma once

#include <string>
#include <string_view>

#include "http/fields.hpp"

// Writing of heads. Nothing that could end a line gets through: whatever a sandbox or a client managed to put
// into a value, the message has the borders that we meant.
namespace oyat::http {

// "HTTP/1.1 200 OK\r\n"
void append_status_line(std::string& out, int status);

// Throws Error{invalid_argument} when name or value are not what a field line may have.
void append_field(std::string& out, std::string_view name, std::string_view value);

// True for fields that belong to a connection rather than to the message: Connection and what it names,
// Keep-Alive, Proxy-*, TE, Trailer, Transfer-Encoding, Upgrade, Content-Length.
[[nodiscard]] bool is_connection_field(const Fields& fields, std::string_view name);

// "1f4\r\n"; the data and another CRLF follow.
[[nodiscard]] std::string chunk_head(std::size_t size);

}  // namespace oyat::http
