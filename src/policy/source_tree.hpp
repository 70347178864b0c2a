#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace oyat::policy {

// Where something stands in a text, from 1; 0: not known.
struct Place {
    std::uint32_t line = 0, column = 0;
};

// A document as a tree of values, whichever form it was written in, and where each of them stands:
// "rule[2].host[0]" -> line 7, column 12. So that a mistake is shown in the text that its author sees.
struct SourceTree {
    boost::json::object root;
    std::map<std::string, Place, std::less<>> places;
};

// Both refuse what is no text of their form, with its place, and a name that stands twice in one object: two
// readers would not agree on which counts. The caller bounds the size.
[[nodiscard]] Result<SourceTree> read_json(std::string_view text);
// `table`: the part of the text that is wanted, "egress"; empty for the whole. Absent: an empty tree.
[[nodiscard]] Result<SourceTree> read_toml(std::string_view text, std::string_view table = {});

[[nodiscard]] std::string to_string(Place place);  // "line 3, column 7"

}  // namespace oyat::policy
