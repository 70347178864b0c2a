#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/exchange.hpp"

namespace oyat::native {

// The JSON object in a request's body, taken apart member by member. What nobody asked for is refused by
// done(): an option that is misspelt or not known here must not look as if it were in force. All throw
// Error{invalid_argument}.
class Body {
public:
    static Task<Body> read(http::Exchange& exchange);  // at most 1 MiB; no body is an empty object
    explicit Body(boost::json::object object, std::string path = {});

    [[nodiscard]] std::optional<std::string> text(std::string_view name);
    [[nodiscard]] std::optional<bool> flag(std::string_view name);
    [[nodiscard]] std::optional<std::uint64_t> number(std::string_view name, std::uint64_t most);
    [[nodiscard]] std::vector<std::string> texts(std::string_view name);
    [[nodiscard]] std::map<std::string, std::string> map(std::string_view name);
    [[nodiscard]] std::vector<boost::json::object> objects(std::string_view name);
    [[nodiscard]] std::optional<boost::json::object> json(
        std::string_view name);  // an object that others read
    [[nodiscard]] std::optional<Body> object(std::string_view name);
    void done() const;

private:
    [[nodiscard]] std::optional<boost::json::value> take(std::string_view name);  // nothing for null, too
    [[noreturn]] void wrong(std::string_view name, std::string_view wanted) const;

    boost::json::object object_;
    std::string path_;  // "limits.": of an inner object
};

}  // namespace oyat::native
