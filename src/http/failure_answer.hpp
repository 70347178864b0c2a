#pragma once

#include <exception>
#include <string>
#include <string_view>

// What the server itself says when no front end has put a failure into words.
namespace oyat::http {

// {"code":404,"message":"..."}
[[nodiscard]] std::string failure_body(int code, std::string_view message);

// What a client may know of what a handler has thrown.
[[nodiscard]] std::string public_message(const std::exception_ptr& error);

}  // namespace oyat::http
