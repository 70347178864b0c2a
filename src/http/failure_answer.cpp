#include "http/failure_answer.hpp"

#include "base/error.hpp"
#include "base/json_escape.hpp"

namespace oyat::http {

std::string failure_body(int code, std::string_view message) {
    return "{\"code\":" + std::to_string(code) + ",\"message\":" + json_string(message) + "}";
}

std::string public_message(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const Error& e) {
        return e.message();
    } catch (...) {
        return "internal error";
    }
}

}  // namespace oyat::http
