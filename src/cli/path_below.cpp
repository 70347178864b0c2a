#include "cli/path_below.hpp"

namespace oyat::cli {

std::optional<std::filesystem::path> path_below(const std::string& root, const std::string& path) {
    if (!path.starts_with(root) || path.size() <= root.size() || path.find('\0') != path.npos)
        return std::nullopt;
    const bool at_the_top = root.ends_with('/');
    if (!at_the_top && path[root.size()] != '/') return std::nullopt;
    const std::filesystem::path relative = path.substr(root.size() + (at_the_top ? 0 : 1));
    if (relative.empty() || relative.is_absolute()) return std::nullopt;
    for (const std::filesystem::path& part : relative) {
        if (part.empty() || part == ".." || part == ".") return std::nullopt;
    }
    return relative;
}

}  // namespace oyat::cli
