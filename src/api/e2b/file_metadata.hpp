#pragma once

#include <map>
#include <string>

#include "base/result.hpp"
#include "http/fields.hpp"

namespace oyat::e2b {

// What the X-Metadata-* fields of an upload say about the file: keys in lower case. Of a field that is sent
// twice the first counts. Refuses what is not printable ASCII or does not fit beside a file.
[[nodiscard]] Result<std::map<std::string, std::string>> file_metadata(const http::Fields& fields);

}  // namespace oyat::e2b
