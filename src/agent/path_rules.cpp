#include "agent/path_rules.hpp"

#include <algorithm>
#include <climits>

namespace oyat::agent {
namespace {

// Takes the last name off; "/" stays.
void go_up(std::string& path) {
    path.resize(path.rfind('/'));
}

}  // namespace

Answer<std::string> resolve_path(std::string_view path, std::string_view home, std::string_view fallback,
                                 Dots dots) {
    if (path.find('\0') != path.npos) return refused(Errc::invalid_argument, "path contains a NUL byte");
    std::string whole;
    if (path.empty()) {
        whole = fallback;
    } else if (path == "~" || path.starts_with("~/")) {
        whole.append(home).append(path.substr(1));
    } else if (path.starts_with('~')) {
        return refused(Errc::invalid_argument,
                       "path " + quoted(path) + ": '~name' is not supported, only '~'");
    } else if (path.starts_with('/')) {
        whole = path;
    } else {
        whole.append(home).append("/").append(path);
    }

    std::string clean;
    std::string_view rest = whole;
    while (!rest.empty()) {
        const std::size_t at = std::min(rest.find('/'), rest.size());
        const std::string_view name = rest.substr(0, at);
        rest.remove_prefix(std::min(at + 1, rest.size()));
        if (name.empty() || name == ".") continue;
        if (name == ".." && dots == Dots::by_name) {
            if (!clean.empty()) go_up(clean);
            continue;
        }
        if (name.size() > NAME_MAX) {
            return refused(Errc::invalid_argument, "name is longer than 255 bytes: " + quoted(name),
                           ENAMETOOLONG);
        }
        clean.append("/").append(name);
    }
    if (clean.size() >= PATH_MAX) {
        return refused(Errc::invalid_argument, "path is longer than 4095 bytes: " + quoted(clean),
                       ENAMETOOLONG);
    }
    return clean.empty() ? "/" : clean;
}

}  // namespace oyat::agent
