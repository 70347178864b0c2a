#include "rpc/message.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <charconv>

#include "base/throwing.hpp"
#include "rpc/base64.hpp"

namespace oyat::rpc {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxDepth = 32;

[[noreturn]] void wrong_type(std::string_view name, std::string_view wanted) {
    throw Error{Errc::invalid_argument, "field '" + std::string{name} + "' is not " + std::string{wanted}};
}

std::string text_of(const json::value& value, std::string_view name) {
    if (!value.is_string()) wrong_type(name, "a string");
    return std::string{value.get_string()};
}

std::string snake_case(std::string_view camel) {
    std::string snake;
    for (const char c : camel) {
        if (c >= 'A' && c <= 'Z') {
            snake += '_';
            snake += static_cast<char>(c - 'A' + 'a');
        } else {
            snake += c;
        }
    }
    return snake;
}

// proto3 lets integers come as numbers, as whole doubles ("1e3") and as decimal text.
std::optional<std::int64_t> integer_of(const json::value& value) {
    if (value.is_int64()) return value.get_int64();
    if (value.is_double()) {
        const double number = value.get_double();
        if (number < -9e15 || number > 9e15 ||
            number != static_cast<double>(static_cast<std::int64_t>(number))) {
            return std::nullopt;
        }
        return static_cast<std::int64_t>(number);
    }
    if (value.is_string()) {
        const json::string& text = value.get_string();
        std::int64_t number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error == std::errc{} && end == text.data() + text.size()) return number;
    }
    return std::nullopt;
}

std::uint32_t uint32_of(const json::value& value, std::string_view name) {
    const std::optional<std::int64_t> number = integer_of(value);
    if (!number || *number < 0 || *number > 0xFFFF'FFFF) wrong_type(name, "an unsigned 32-bit number");
    return static_cast<std::uint32_t>(*number);
}

}  // namespace

Result<json::object> parse_object(std::string_view text) {
    json::parse_options options;
    options.max_depth = kMaxDepth;
    boost::system::error_code error;
    json::value value = json::parse(text, error, {}, options);
    if (error) return refuse(Errc::invalid_argument, "not valid JSON: " + error.message());
    if (!value.is_object()) return refuse(Errc::invalid_argument, "not a JSON object");
    return std::move(value.get_object());
}

const json::value* Message::find(std::string_view name) const {
    const json::value* value = object_->if_contains(name);
    if (value == nullptr && name.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") != std::string_view::npos) {
        value = object_->if_contains(snake_case(name));
    }
    return value == nullptr || value->is_null() ? nullptr : value;
}

std::string Message::string(std::string_view name) const {
    const json::value* value = find(name);
    return value == nullptr ? std::string{} : text_of(*value, name);
}

std::optional<std::string> Message::optional_string(std::string_view name) const {
    const json::value* value = find(name);
    if (value == nullptr) return std::nullopt;
    return text_of(*value, name);
}

bool Message::boolean(std::string_view name, bool missing) const {
    const json::value* value = find(name);
    if (value == nullptr) return missing;
    if (!value->is_bool()) wrong_type(name, "a boolean");
    return value->get_bool();
}

std::uint32_t Message::uint32(std::string_view name) const {
    const json::value* value = find(name);
    return value == nullptr ? 0 : uint32_of(*value, name);
}

std::string Message::bytes(std::string_view name) const {
    const json::value* value = find(name);
    if (value == nullptr) return {};
    if (!value->is_string()) wrong_type(name, "base64 text");
    return in("field '" + std::string{name} + "'",
              [&] { return or_throw(decode_base64(value->get_string())); });
}

std::vector<std::string> Message::strings(std::string_view name) const {
    std::vector<std::string> list;
    const json::value* value = find(name);
    if (value == nullptr) return list;
    if (!value->is_array()) wrong_type(name, "a list");
    for (const json::value& item : value->get_array()) list.push_back(text_of(item, name));
    return list;
}

std::vector<std::uint32_t> Message::uint32s(std::string_view name) const {
    std::vector<std::uint32_t> list;
    const json::value* value = find(name);
    if (value == nullptr) return list;
    if (!value->is_array()) wrong_type(name, "a list");
    for (const json::value& item : value->get_array()) list.push_back(uint32_of(item, name));
    return list;
}

std::map<std::string, std::string> Message::string_map(std::string_view name) const {
    std::map<std::string, std::string> map;
    const json::value* value = find(name);
    if (value == nullptr) return map;
    if (!value->is_object()) wrong_type(name, "an object");
    for (const auto& item : value->get_object())
        map.insert_or_assign(item.key(), text_of(item.value(), name));
    return map;
}

std::optional<Message> Message::message(std::string_view name) const {
    const json::value* value = find(name);
    if (value == nullptr) return std::nullopt;
    if (!value->is_object()) wrong_type(name, "an object");
    return Message{value->get_object()};
}

int Message::enumeration(std::string_view name, std::initializer_list<EnumName> names) const {
    const json::value* value = find(name);
    if (value == nullptr) return 0;
    if (value->is_string()) {
        for (const EnumName& known : names) {
            if (known.name == std::string_view{value->get_string()}) return known.number;
        }
        wrong_type(name, "a known name");
    }
    const std::optional<std::int64_t> number = integer_of(*value);
    if (!number || *number < INT32_MIN || *number > INT32_MAX) wrong_type(name, "a name or number");
    return static_cast<int>(*number);
}

}  // namespace oyat::rpc
