#include "api/e2b/endpoint.hpp"

#include "base/id.hpp"
#include "base/throwing.hpp"
#include "core/event_json.hpp"
#include "rpc/message.hpp"

namespace oyat::e2b {
namespace {

constexpr std::size_t kMaxBody = 1024 * 1024;

}  // namespace

Reply Reply::json(int status, const boost::json::value& value) {
    Reply reply{status, {}, {{"Content-Type", "application/json"}}};
    core::append_json(reply.body, value);
    return reply;
}

std::string sandbox_named(std::string_view given) {
    return std::string{given.substr(0, given.find('-'))};
}

http::Query ControlCall::query() const {
    return or_throw(http::Query::parse(exchange.request().query));
}

std::string ControlCall::sandbox_id() const {
    std::string id = sandbox_named(values.at("id"));
    if (!is_sandbox_id(id)) throw Error{Errc::not_found, "no sandbox has such an id"};
    return id;
}

Task<boost::json::object> ControlCall::object() {
    const std::string body = co_await exchange.read_whole_body(kMaxBody);
    if (body.find_first_not_of(" \t\r\n") == std::string::npos) co_return boost::json::object{};
    co_return or_throw(rpc::parse_object(body));
}

}  // namespace oyat::e2b
