#pragma once

#include <cstdint>
#include <string>

#include "base/fd.hpp"

// The few operations on btrfs subvolumes that a store needs, as system calls.
namespace oyat::layers::btrfs {

// Turns on quota accounting for the file system; nothing happens when it is on.
void enable_quota(int root);
[[nodiscard]] bool quota_is_on(int root);

void create_subvolume(int parent, const std::string& name);
// Shares all blocks with `of`. On disk when it returns. (One that the kernel holds to be read-only could not
// be renamed.)
void copy_subvolume(int of, int parent, const std::string& name);
// Takes as long as the subvolume is big; most of the work goes on in the kernel's background.
void destroy_subvolume(int parent, const std::string& name);
[[nodiscard]] std::uint64_t subvolume_id(int subvolume);

// At most this many bytes of data and metadata in the subvolume. 0 = no limit.
void limit_subvolume(int subvolume, std::uint64_t bytes);
// As of the last commit, up to 30 seconds ago.
[[nodiscard]] std::uint64_t used_bytes(int root, std::uint64_t subvolume_id);

}  // namespace oyat::layers::btrfs
