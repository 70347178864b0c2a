#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace oyat::cli {

// What remains of an absolute path that a sandbox named, below the root that we asked about. Nothing for what
// does not lie below it or would lead out of it: the sandbox is not trusted with where we write.
[[nodiscard]] std::optional<std::filesystem::path> path_below(const std::string& root,
                                                              const std::string& path);

}  // namespace oyat::cli
