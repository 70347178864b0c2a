#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"

namespace oyat::layers {

// What a directory holds, sorted, without "." and "..". `dir` stays where it was; it may be O_PATH.
[[nodiscard]] std::vector<std::string> names_in(int dir);

// Opens a directory below `dir` for *at() calls (O_RDONLY). The last component is never a symlink.
[[nodiscard]] Fd open_directory(int dir, const std::string& name);

// The same, made first if it is absent.
[[nodiscard]] Fd make_directory(int dir, const std::string& name, mode_t mode);

// The same with all that is above it, as root's and 0700.
[[nodiscard]] Fd make_directories(const std::string& path);

// A small file whole, and its replacement by rename, synced: after a crash it is the old text or the new one.
[[nodiscard]] std::string read_file(int dir, const std::string& name);
void replace_file(int dir, const std::string& name, const std::string& text);

// Removes a tree of any depth with a bounded number of descriptors and without following a link. What stands
// under a busy mount point stays. A removal that is cut short may leave parts beside it, as `name`~NUMBER.
void remove_tree(int dir, const std::string& name);
// The same with such parts of earlier tries.
void remove_tree_and_rests(int dir, const std::string& name);
// Whose rest it is, or the name itself.
[[nodiscard]] std::string_view without_rest_number(std::string_view name);

}  // namespace oyat::layers
