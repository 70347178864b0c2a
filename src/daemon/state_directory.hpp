#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace oyat::daemon {

// Where things lie below --state.
struct StatePaths {
    std::filesystem::path own;  // oyatd's, 0700
    std::filesystem::path database;
    std::filesystem::path spool;  // uploads on their way; emptied at the start
    std::filesystem::path audit;  // the keeper's; read here
    std::filesystem::path
        secrets_key;  // who starts us owns it: after a start by root, oyatd cannot read it again
};

// Makes oyatd's own directory for `owner`, and lets its group pass through the state directory. To be called
// before the privileges are given up. Throws Error.
[[nodiscard]] StatePaths prepare_state_directory(const std::string& state, uid_t owner, gid_t group);

}  // namespace oyat::daemon
