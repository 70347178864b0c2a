#include "audit/record_json.hpp"

#include <boost/json/parse.hpp>
#include <utility>

namespace oyat::audit {

boost::json::object parse_record(std::string_view record) {
    boost::system::error_code failed;
    boost::json::value json = boost::json::parse(record, failed);
    return failed || !json.is_object() ? boost::json::object{} : std::move(json.get_object());
}

std::string text_of(const boost::json::object& record, std::string_view key) {
    const auto* value = record.if_contains(key);
    return value && value->is_string() ? std::string{value->get_string()} : "";
}

std::uint64_t number_of(const boost::json::object& record, std::string_view key) {
    const auto* value = record.if_contains(key);
    boost::system::error_code failed;
    const auto number = value && value->is_number() ? value->to_number<std::uint64_t>(failed) : 0;
    return failed ? 0 : number;
}

bool is_true(const boost::json::object& record, std::string_view key) {
    const auto* value = record.if_contains(key);
    return value && value->is_bool() && value->get_bool();
}

}  // namespace oyat::audit
