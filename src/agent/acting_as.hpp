#pragma once

#include "agent/users.hpp"

namespace oyat::agent {

// While it lives, the kernel judges file accesses as those of the user: ids of the file system, groups, and
// no capability that would overrule them. Everything between must return to the loop only after it has died.
class ActingAs {
public:
    explicit ActingAs(const User& user);
    ActingAs(const ActingAs&) = delete;
    ActingAs& operator=(const ActingAs&) = delete;
    ~ActingAs();

private:
    bool changed_ = false;
};

}  // namespace oyat::agent
