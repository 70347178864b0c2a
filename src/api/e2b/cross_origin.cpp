#include "api/e2b/cross_origin.hpp"

namespace oyat::e2b {
namespace {

constexpr const char* kExposed =
    "Location, Cache-Control, X-Content-Type-Options, Connect-Content-Encoding, Connect-Protocol-Version, "
    "Grpc-Status, Grpc-Message, Grpc-Status-Details-Bin";

http::Fields opened(http::Fields fields) {
    fields.set("Access-Control-Allow-Origin", "*");
    fields.set("Access-Control-Expose-Headers", kExposed);
    return fields;
}

}  // namespace

Task<> CrossOriginExchange::answer_preflight() {
    http::Fields fields{{"Access-Control-Allow-Origin", "*"},
                        {"Access-Control-Allow-Methods", "HEAD, GET, POST, PUT, PATCH, DELETE"},
                        {"Access-Control-Max-Age", "7200"}};
    // "*" would not cover Authorization, so what was asked for is named.
    if (const std::string_view asked = request().fields.get("Access-Control-Request-Headers");
        !asked.empty()) {
        fields.add("Access-Control-Allow-Headers", std::string{asked});
    }
    co_await exchange_.respond(204, std::move(fields), "");
}

Task<> CrossOriginExchange::respond(int status, http::Fields fields, std::string body) {
    return exchange_.respond(status, opened(std::move(fields)), std::move(body));
}

Task<> CrossOriginExchange::start(int status, http::Fields fields, std::optional<std::uint64_t> length) {
    return exchange_.start(status, opened(std::move(fields)), length);
}

}  // namespace oyat::e2b
