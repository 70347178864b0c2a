#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/microvm/places.hpp"

namespace oyat::microvm {

// The name of the read-only disk that is made of these layers (newest first). The same layers have the same
// name for as long as they stay in place unchanged.
[[nodiscard]] std::string base_name(std::string_view template_digest, std::span<const int> lowers);
// What the names of all disks of a template, and of the machines with them, begin with.
[[nodiscard]] std::string base_prefix(std::string_view template_digest);
[[nodiscard]] std::string base_file(const Places& places, const std::string& name);

// Makes the disk, an erofs of the merged layers, if it is not there; who comes second waits. For a child
// process. Half a second for Debian.
void make_base(const Places& places, const std::string& name, std::span<const int> lowers);

// A sandbox's own disk in its box.
inline constexpr const char* kDiskName = "disk.img";

// An empty ext4 without a journal in a new sparse file. Its size is the limit.
void format_disk(const std::string& path, std::uint64_t bytes, std::uint64_t inodes);

}  // namespace oyat::microvm
