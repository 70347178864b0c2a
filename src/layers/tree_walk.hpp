#pragma once

#include <sys/stat.h>

#include <functional>
#include <map>
#include <string>

#include "base/fd.hpp"

namespace oyat::layers {

// One file of a tree, as it stands on disk.
struct TreeEntry {
    const std::string& path;  // from the root, without a leading "/"; "." for the root itself
    int dir;                  // the directory that it is in, and
    const char* name;         // its name there
    const struct stat& facts;
};

// Calls `visit` with the root and everything below, depth first, the entries of each directory in the order
// of their bytes. Symlinks are not followed. The tree must not change meanwhile.
void walk_tree(int root, const std::function<void(const TreeEntry&)>& visit);

// For regular files and directories, which alone can have attributes of a template's content: read-only.
[[nodiscard]] Fd open_entry(const TreeEntry& entry);

// File capabilities and user.*, by name.
[[nodiscard]] std::map<std::string, std::string> content_xattrs(int file);

[[nodiscard]] std::string link_target(const TreeEntry& entry);

}  // namespace oyat::layers
