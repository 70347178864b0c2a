#include "api/e2b/acting_user.hpp"

#include "http/fields.hpp"
#include "rpc/base64.hpp"

namespace oyat::e2b {

Result<std::string> acting_user(std::string_view authorization) {
    if (authorization.empty()) return std::string{};
    const std::size_t blank = authorization.find(' ');
    if (blank == std::string_view::npos ||
        !http::equal_ignoring_case(authorization.substr(0, blank), "Basic")) {
        return std::string{};  // another scheme says nothing about users
    }
    Result<std::string> pair = rpc::decode_base64(authorization.substr(blank + 1));
    if (!pair) return refuse(Errc::denied, "Authorization is not Basic with base64");
    const std::size_t colon = pair->find(':');
    if (colon == std::string::npos) return refuse(Errc::denied, "Authorization has no ':' after the user");
    if (pair->find('\0') != std::string::npos) return refuse(Errc::denied, "user name with a NUL");
    pair->resize(colon);
    return pair;
}

}  // namespace oyat::e2b
