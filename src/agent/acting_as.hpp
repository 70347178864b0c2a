#pragma once

#include "agent/user.hpp"

namespace oyat::agent {

// Whether the kernel lets the agent be this user. An image, or root inside, can have ids in passwd and group
// that the sandbox's namespace lacks: such groups are taken off the user, and a user of such an id nobody can
// be.
[[nodiscard]] bool can_act_as(User& user);

// While it lives, the kernel judges file accesses as those of the user: ids of the file system, groups, and
// no capability that would overrule them. Everything between must return to the loop only after it has died.
class ActingAs {
public:
    explicit ActingAs(const User& user);
    ActingAs(const ActingAs&) = delete;
    ActingAs& operator=(const ActingAs&) = delete;
    ~ActingAs();
};

}  // namespace oyat::agent
