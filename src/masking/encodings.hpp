#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace oyat::masking {

// Every shape in which a value is looked for, each once, none shorter than kShortestValue: the value itself
// and without its final newline; base64 and base64url at the three alignments, so also inside of
// `user:value`; percent-encoded; escaped as JSON; hex; and each long line of a value of several lines.
// Empty for a value that is too short.
[[nodiscard]] std::vector<std::string> encodings_of(std::string_view value);

}  // namespace oyat::masking
