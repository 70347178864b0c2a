#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace oyat::http {

// Percent-decoding of one path segment or query value; '+' stays. Refuses bad escapes.
[[nodiscard]] Result<std::string> percent_decode(std::string_view text);
[[nodiscard]] std::string percent_encode(
    std::string_view text);  // all but unreserved characters (RFC 3986, 2.3)

// "a=1&b=x%20y": decoded pairs in order; '+' means blank here (WHATWG form encoding).
class Query {
public:
    static Result<Query> parse(std::string_view text);
    [[nodiscard]] std::optional<std::string> get(std::string_view name) const;
    [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& all() const { return pairs_; }

private:
    std::vector<std::pair<std::string, std::string>> pairs_;
};

}  // namespace oyat::http
