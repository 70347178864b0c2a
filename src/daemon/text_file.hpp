#pragma once

#include <string>

namespace oyat::daemon {

// A small file of the operator's, whole: at most 1 MiB. Throws Error.
[[nodiscard]] std::string read_text_file(const std::string& path);

}  // namespace oyat::daemon
