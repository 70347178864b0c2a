#include "api/e2b/transfer_target.hpp"

#include "http/url.hpp"

namespace oyat::e2b {

Result<TransferTarget> TransferTarget::of(std::string_view query) {
    const Result<http::Query> parsed = http::Query::parse(query);
    if (!parsed) return refuse(Errc::invalid_argument, "the query has a broken escape");
    TransferTarget target{parsed->get("path").value_or(""), parsed->get("username").value_or("")};
    if (target.path.find('\0') != std::string::npos || target.user.find('\0') != std::string::npos) {
        return refuse(Errc::invalid_argument, "path or user name with a NUL");
    }
    return target;
}

}  // namespace oyat::e2b
