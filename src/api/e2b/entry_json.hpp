#pragma once

#include <string>

#include "core/agent_channel.hpp"

// The JSON of files and of what happens to them.
namespace oyat::e2b {

// "EntryInfo" of the file system service.
void append_entry(std::string& json, const core::FileEntry& entry);

// The short form that uploads answer: name, path, type, and metadata when there is some.
void append_written(std::string& json, const core::FileEntry& entry);

// "FilesystemEvent". An overflow has no event of its own; callers treat it as the loss that it is.
void append_change(std::string& json, const core::FileChange& change);

// "drwxr-xr-x" with the prefix letters that the published agent has: for a link "L", a sticky directory "dt".
[[nodiscard]] std::string permission_text(const core::FileEntry& entry);

}  // namespace oyat::e2b
