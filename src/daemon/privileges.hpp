#pragma once

#include <sys/types.h>

#include <string>

namespace oyat::daemon {

struct User {
    uid_t uid = 0;
    gid_t gid = 0;
};
// By name or number; "" is who we are now. Throws Error when there is none, and for root: oyatd does not run
// as root.
[[nodiscard]] User find_user(const std::string& name);

// Becomes this user for good: no capabilities, no other groups, no way back, no new privileges by any
// program. Also makes the process unreadable for others of the same user, and leaves no core dumps: its
// memory holds tokens. Throws Error.
void give_up_privileges(const User& user);

// As many descriptors as the system lets us have: each sandbox takes about ten.
void raise_descriptor_limit();

// Values of secrets are locked into memory while they are in use: some at a time, 64 KiB at most each.
void raise_locked_memory_limit();

}  // namespace oyat::daemon
