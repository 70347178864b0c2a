#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <string>
#include <string_view>

// Looks into answers of the server without trusting their shape: what is missing reads as nothing.
namespace oyat::cli {

[[nodiscard]] inline const boost::json::value* member(const boost::json::value& value,
                                                      std::string_view name) {
    const boost::json::object* object = value.if_object();
    return object == nullptr ? nullptr : object->if_contains(name);
}

[[nodiscard]] inline std::string text(const boost::json::value& value, std::string_view name) {
    const boost::json::value* found = member(value, name);
    const boost::json::string* string = found == nullptr ? nullptr : found->if_string();
    return string == nullptr ? std::string{} : std::string{string->data(), string->size()};
}

[[nodiscard]] inline std::int64_t number(const boost::json::value& value, std::string_view name) {
    const boost::json::value* found = member(value, name);
    if (found == nullptr) return 0;
    boost::system::error_code problem;
    const auto number = found->to_number<std::int64_t>(problem);
    return problem ? 0 : number;
}

[[nodiscard]] inline double fraction(const boost::json::value& value, std::string_view name) {
    const boost::json::value* found = member(value, name);
    if (found == nullptr) return 0;
    boost::system::error_code problem;
    const auto number = found->to_number<double>(problem);
    return problem ? 0 : number;
}

[[nodiscard]] inline bool flag(const boost::json::value& value, std::string_view name) {
    const boost::json::value* found = member(value, name);
    return found != nullptr && found->is_bool() && found->get_bool();
}

// An array, or an empty one.
[[nodiscard]] inline const boost::json::array& list(const boost::json::value& value, std::string_view name) {
    static const boost::json::array kNone;
    const boost::json::value* found = member(value, name);
    const boost::json::array* array = found == nullptr ? nullptr : found->if_array();
    return array == nullptr ? kNone : *array;
}

}  // namespace oyat::cli
