#pragma once

#include <sys/stat.h>

#include <map>
#include <string>

#include "agent/status.hpp"
#include "agent/users.hpp"
#include "wire/agent_messages.hpp"

namespace oyat::agent {

[[nodiscard]] wire::FileType file_type(mode_t mode);

// What is known of a name in a directory, for the one who acts. `users` was refreshed before.
[[nodiscard]] Answer<wire::FileEntry> describe(int directory, const char* name, std::string path,
                                               Users& users);

// The same of a whole path.
[[nodiscard]] Answer<wire::FileEntry> describe_path(const std::string& path, Users& users);

// A client's own words about a file are extended attributes user.SPACE.KEY. The host says the space once, for
// all of this agent's life; until then, and for "", it is "oyat".
void set_metadata_space(std::string_view space);
inline constexpr std::size_t kMaxMetadata = 64 * 1024;

// Puts `metadata` in the place of all that an open file had.
[[nodiscard]] Status replace_metadata(int file, const std::map<std::string, std::string>& metadata);

// FileEntries with one entry, as the event that most file requests answer with.
[[nodiscard]] std::string entry_event(wire::FileEntry entry);

}  // namespace oyat::agent
