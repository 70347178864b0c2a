#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

// What package managers write about what they installed. Pure and linear; the bytes are a sandbox's.
namespace oyat::packages {

struct NameAndVersion {
    std::string name, version;
    [[nodiscard]] bool operator==(const NameAndVersion&) const = default;
};

// So much of a file is looked at: what is asked for stands at its beginning, whatever follows.
inline constexpr std::size_t kMaxMetadata = 64 * 1024;
// Of package.json, where it may stand anywhere.
inline constexpr std::size_t kMaxManifest = 1024 * 1024;

// The head of METADATA or PKG-INFO (Core Metadata, like a mail's).
[[nodiscard]] std::optional<NameAndVersion> read_python_metadata(std::string_view text);

// package.json: the members "name" and "version" of the outermost object. Nothing when one is missing, is no
// text or is written with \u: names are ASCII.
[[nodiscard]] std::optional<NameAndVersion> read_npm_manifest(std::string_view text);

// /var/lib/dpkg/status: calls `take` with each package that is installed.
void read_dpkg_status(std::string_view text, const std::function<void(NameAndVersion)>& take);

}  // namespace oyat::packages
