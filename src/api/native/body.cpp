#include "api/native/body.hpp"

#include "base/throwing.hpp"
#include "core/json_text.hpp"
#include "rpc/message.hpp"

namespace oyat::native {
namespace {

constexpr std::size_t kMaxBody = 1024 * 1024;

std::string text_of(const boost::json::value& value) {
    const boost::json::string& text = value.get_string();
    return {text.data(), text.size()};
}

}  // namespace

Task<Body> Body::read(http::Exchange& exchange) {
    const std::string text = co_await exchange.read_whole_body(kMaxBody);
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) co_return Body{{}};
    co_return Body{or_throw(rpc::parse_object(text))};
}

Body::Body(boost::json::object object, std::string path)
    : object_{std::move(object)}, path_{std::move(path)} {}

std::optional<std::string> Body::text(std::string_view name) {
    const std::optional<boost::json::value> value = take(name);
    if (!value) return std::nullopt;
    if (!value->is_string()) wrong(name, "a string");
    return text_of(*value);
}

std::optional<bool> Body::flag(std::string_view name) {
    const std::optional<boost::json::value> value = take(name);
    if (!value) return std::nullopt;
    if (!value->is_bool()) wrong(name, "true or false");
    return value->get_bool();
}

std::optional<std::uint64_t> Body::number(std::string_view name, std::uint64_t most) {
    const std::optional<boost::json::value> value = take(name);
    if (!value) return std::nullopt;
    boost::system::error_code problem;
    const auto number = value->to_number<std::uint64_t>(problem);
    if (problem || number > most) wrong(name, "a whole number from 0 to " + std::to_string(most));
    return number;
}

std::vector<std::string> Body::texts(std::string_view name) {
    std::vector<std::string> all;
    const std::optional<boost::json::value> value = take(name);
    if (!value) return all;
    if (!value->is_array()) wrong(name, "a list of strings");
    for (const boost::json::value& each : value->get_array()) {
        if (!each.is_string()) wrong(name, "a list of strings");
        all.push_back(text_of(each));
    }
    return all;
}

std::map<std::string, std::string> Body::map(std::string_view name) {
    std::map<std::string, std::string> all;
    const std::optional<boost::json::value> value = take(name);
    if (!value) return all;
    if (!value->is_object()) wrong(name, "an object of strings");
    for (const auto& [key, each] : value->get_object()) {
        if (!each.is_string()) wrong(name, "an object of strings");
        all.emplace(std::string{key}, text_of(each));
    }
    return all;
}

std::vector<boost::json::object> Body::objects(std::string_view name) {
    std::vector<boost::json::object> all;
    const std::optional<boost::json::value> value = take(name);
    if (!value) return all;
    if (!value->is_array()) wrong(name, "a list of objects");
    for (const boost::json::value& each : value->get_array()) {
        if (!each.is_object()) wrong(name, "a list of objects");
        all.push_back(each.get_object());
    }
    return all;
}

std::optional<Body> Body::object(std::string_view name) {
    std::optional<boost::json::value> value = take(name);
    if (!value) return std::nullopt;
    if (!value->is_object()) wrong(name, "an object");
    return Body{std::move(value->get_object()), path_ + std::string{name} + "."};
}

std::optional<boost::json::object> Body::json(std::string_view name) {
    std::optional<boost::json::value> value = take(name);
    if (!value) return std::nullopt;
    if (!value->is_object()) wrong(name, "an object");
    return std::move(value->get_object());
}

void Body::done() const {
    if (object_.empty()) return;
    const boost::json::string name = core::json_text(std::string_view{object_.begin()->key()});
    throw Error{Errc::invalid_argument,
                "unknown member '" + path_ + std::string{name.data(), name.size()} + "'"};
}

std::optional<boost::json::value> Body::take(std::string_view name) {
    const auto found = object_.find(name);
    if (found == object_.end()) return std::nullopt;
    boost::json::value value = std::move(found->value());
    object_.erase(found);
    if (value.is_null()) return std::nullopt;
    return value;
}

void Body::wrong(std::string_view name, std::string_view wanted) const {
    throw Error{Errc::invalid_argument, path_ + std::string{name} + " must be " + std::string{wanted}};
}

}  // namespace oyat::native
