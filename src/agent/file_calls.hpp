#pragma once

#include "agent/actor.hpp"
#include "agent/status.hpp"
#include "agent/users.hpp"
#include "wire/agent_messages.hpp"

// The file requests that one moment suffices for.
namespace oyat::agent {

[[nodiscard]] Answer<wire::FileEntry> stat_path(const Actor& actor, Users& users, const wire::Stat& request);
[[nodiscard]] Answer<wire::FileEntry> make_directory(const Actor& actor, Users& users,
                                                     const wire::MakeDir& request);
[[nodiscard]] Answer<wire::FileEntry> change_mode(const Actor& actor, Users& users,
                                                  const wire::Chmod& request);
[[nodiscard]] Answer<wire::DiskUse> disk_use();

}  // namespace oyat::agent
