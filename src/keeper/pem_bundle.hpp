#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace oyat::keeper {

// The certificates of a PEM text, each as its own block with its two marker lines. What stands between them
// (names, comments) and what is cut off is left out.
[[nodiscard]] std::vector<std::string> certificates_in(std::string_view pem);

// Those of `offered` that `present` lacks, each once. The same certificate in other line lengths is the same.
[[nodiscard]] std::vector<std::string> certificates_missing(const std::vector<std::string>& present,
                                                            const std::vector<std::string>& offered);

}  // namespace oyat::keeper
