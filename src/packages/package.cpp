#include "packages/package.hpp"

#include <algorithm>

namespace oyat::packages {
namespace {

constexpr std::size_t kMaxName = 255, kMaxVersion = 128, kMaxPath = 1024;

bool is_of(std::string_view text, std::string_view marks) {
    return std::ranges::all_of(text, [&](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               marks.contains(c);
    });
}

}  // namespace

std::string_view to_string(Ecosystem ecosystem) noexcept {
    switch (ecosystem) {
        case Ecosystem::python: return "python";
        case Ecosystem::npm: return "npm";
        case Ecosystem::debian: return "debian";
        case Ecosystem::cargo: return "cargo";
        case Ecosystem::go: return "go";
    }
    return "";
}

bool is_plain_name(std::string_view name) noexcept {
    return !name.empty() && name.size() <= kMaxName && is_of(name, "@/._+~-");
}

bool is_plain_version(std::string_view version) noexcept {
    return !version.empty() && version.size() <= kMaxVersion && is_of(version, "._+~:!-");
}

bool is_plain_path(std::string_view path) noexcept {
    return path.size() <= kMaxPath &&
           std::ranges::all_of(path, [](char c) { return c > ' ' && c <= '~' && c != '"' && c != '\\'; });
}

}  // namespace oyat::packages
