#include "core/json_text.hpp"

#include <boost/json/array.hpp>

#include "base/json_escape.hpp"

namespace oyat::core {
namespace json = boost::json;

json::string json_text(std::string_view bytes) {
    if (is_utf8(bytes)) return json::string{bytes.data(), bytes.size()};
    json::string out;
    out.reserve(bytes.size() + 16);
    while (!bytes.empty()) {
        std::size_t length = 1;
        while (length <= 4 && !is_utf8(bytes.substr(0, length))) ++length;
        if (length > 4 || length > bytes.size()) {
            out.append("\xEF\xBF\xBD");
            length = 1;
        } else {
            out.append(json::string_view{bytes.data(), length});
        }
        bytes.remove_prefix(length);
    }
    return out;
}

json::array json_texts(const std::vector<std::string>& all) {
    json::array out;
    out.reserve(all.size());
    for (const std::string& each : all) out.emplace_back(json_text(each));
    return out;
}

json::object json_texts(const std::map<std::string, std::string>& all) {
    json::object out;
    for (const auto& [name, value] : all) out[json_text(name)] = json_text(value);
    return out;
}

json::array json_names(const std::map<std::string, std::string>& all) {
    json::array out;
    for (const auto& [name, value] : all) out.emplace_back(json_text(name));
    return out;
}

}  // namespace oyat::core
