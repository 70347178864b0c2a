#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>

// Looking into records: whatever is missing or of another kind reads as nothing.
namespace oyat::audit {

[[nodiscard]] boost::json::object parse_record(std::string_view record);  // {} when it is no object
[[nodiscard]] std::string text_of(const boost::json::object& record, std::string_view key);
[[nodiscard]] std::uint64_t number_of(const boost::json::object& record, std::string_view key);
[[nodiscard]] bool is_true(const boost::json::object& record, std::string_view key);

}  // namespace oyat::audit
