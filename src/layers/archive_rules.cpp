#include "layers/archive_rules.hpp"

#include <sys/stat.h>

#include <array>
#include <cstdio>

namespace oyat::layers {
namespace {

constexpr std::size_t kLongestPath = 4000;
constexpr std::size_t kDeepest = 200;
constexpr std::size_t kLongestName = 255;

}  // namespace

Result<std::string> path_in_root(std::string_view path) {
    const auto no = [whole = path](const char* why) {
        return refuse(Errc::invalid_argument, "entry '" + printable(whole) + "': " + why);
    };
    if (path.empty() || path.starts_with('/')) return no("not a relative path");
    if (path.size() > kLongestPath || path.find('\0') != std::string_view::npos)
        return no("not a usable path");
    std::string clean;
    std::size_t depth = 0;
    while (!path.empty()) {
        const std::size_t end = path.find('/');
        const std::string_view part = path.substr(0, end);
        path.remove_prefix(end == std::string_view::npos ? path.size() : end + 1);
        if (part.empty() || part == ".") continue;
        if (part == "..") return no("leads out of the tree");
        if (part.size() > kLongestName || ++depth > kDeepest) return no("too long or too deep");
        if (!clean.empty()) clean += '/';
        clean += part;
    }
    return clean.empty() ? "." : clean;
}

Result<void> check_link_target(std::string_view target) {
    if (target.empty() || target.size() > kLongestPath || target.find('\0') != std::string_view::npos) {
        return refuse(Errc::invalid_argument, "a symlink's target is empty or too long");
    }
    return {};
}

XattrFate fate_of_xattr(std::string_view name) noexcept {
    if (name == "security.capability" || name.starts_with("user.")) return XattrFate::keep;
    return name.starts_with("trusted.") ? XattrFate::refuse : XattrFate::drop;
}

Result<void> check_type(std::uint32_t mode) {
    switch (mode & S_IFMT) {
        case S_IFREG:
        case S_IFDIR:
        case S_IFLNK:
        case S_IFIFO: return {};
        case S_IFCHR:
        case S_IFBLK: return refuse(Errc::invalid_argument, "a template may not hold a device node");
        default: return refuse(Errc::invalid_argument, "a template may not hold this kind of file");
    }
}

Result<void> check_owner(std::int64_t uid, std::int64_t gid) {
    if (uid >= 0 && uid <= 65535 && gid >= 0 && gid <= 65535) return {};
    return refuse(Errc::invalid_argument, "an owner is beyond 65535");
}

Result<void> check_volume(const ArchiveCaps& caps, std::uint64_t entries, std::uint64_t bytes_out,
                          std::uint64_t bytes_in) {
    if (entries > caps.entries) return refuse(Errc::exhausted, "the archive has too many entries");
    if (bytes_out > caps.bytes) return refuse(Errc::exhausted, "the archive holds too many bytes");
    if (bytes_out > caps.free_bytes && (bytes_out - caps.free_bytes) / caps.ratio > bytes_in) {
        return refuse(Errc::exhausted, "the archive unpacks to far more than it is");
    }
    return {};
}

std::string printable(std::string_view name) {
    constexpr std::size_t kLongest = 200;
    std::string text;
    for (const char c : name) {
        if (text.size() >= kLongest) return text + "...";
        if (c >= ' ' && c <= '~' && c != '\\') {
            text += c;
        } else {
            std::array<char, 8> escaped{};
            std::snprintf(escaped.data(), escaped.size(), "\\x%02x", static_cast<unsigned char>(c));
            text += escaped.data();
        }
    }
    return text;
}

}  // namespace oyat::layers
