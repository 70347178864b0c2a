#pragma once

#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace oyat::core {

// Whatever bytes a client or a sandbox chose, as text that any JSON reader takes: what is not UTF-8 becomes
// U+FFFD (threats D-25). Everything that goes into Event::fields and came from outside passes here.
[[nodiscard]] boost::json::string json_text(std::string_view bytes);

[[nodiscard]] boost::json::array json_texts(const std::vector<std::string>& all);
[[nodiscard]] boost::json::object json_texts(const std::map<std::string, std::string>& all);
// The names alone: values of environment variables never enter the record.
[[nodiscard]] boost::json::array json_names(const std::map<std::string, std::string>& all);

}  // namespace oyat::core
