#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace oyat::packages {

enum class Ecosystem : std::uint8_t { python, npm, debian, cargo, go };

[[nodiscard]] std::string_view to_string(Ecosystem ecosystem) noexcept;

struct Package {
    Ecosystem ecosystem = Ecosystem::python;
    std::string name;
    std::string version;
    std::string path;  // where it stands, from the root, without a leading "/"; "" where that can't be shown

    [[nodiscard]] auto operator<=>(const Package&) const = default;
};

// Whoever publishes a package chooses its name, and a program inside may write any. Those that are no
// package's anywhere (a control byte, a space, a quote; too long) are not taken over.
[[nodiscard]] bool is_plain_name(std::string_view name) noexcept;
[[nodiscard]] bool is_plain_version(std::string_view version) noexcept;
[[nodiscard]] bool is_plain_path(std::string_view path) noexcept;

}  // namespace oyat::packages
