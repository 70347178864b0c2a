#pragma once

#include <string>
#include <string_view>

#include "agent/status.hpp"

namespace oyat::agent {

// Who goes up at "..": the text, as clients expect of file paths, or the kernel, which knows about links.
enum class Dots { by_name, by_links };

// What a path of a request means: "" is `fallback`, "~" and "~/x" stand under `home`, a relative path too,
// "~name" is refused. The result is absolute and without "." and doubled slashes. A NUL, a name over 255
// bytes and a path over 4,095 are refused here, where the message can say so.
[[nodiscard]] Answer<std::string> resolve_path(std::string_view path, std::string_view home,
                                               std::string_view fallback, Dots dots = Dots::by_name);

}  // namespace oyat::agent
