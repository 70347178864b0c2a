#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>

#include "agent/command_group.hpp"
#include "agent/settings.hpp"
#include "agent/status.hpp"
#include "agent/users.hpp"
#include "base/fd.hpp"
#include "wire/agent_messages.hpp"

namespace oyat::agent {

// A program that has just been started, with the agent's ends of its descriptors, all non-blocking.
struct Launched {
    pid_t pid = 0;
    bool terminal = false;
    Fd input;  // pipe to stdin; for a terminal a second descriptor of its master; may be absent
    std::array<Fd, 2> outputs;  // stdout and stderr; of a terminal only the first, its master
    Fd go;                      // held programs only: a byte starts it
    Fd result;                  // held programs only: see held_failure
    CommandGroup group;
    std::string cwd;  // after the path rules
};

// Starts what a Spawn asks for, as `user`. Failures of the program's own way to exec are found out here too.
[[nodiscard]] Answer<Launched> launch(const wire::Spawn& spawn, const Settings& settings, const User& user,
                                      CommandGroups& groups);

// Why a held program that has ended never became what it should, or code 0.
[[nodiscard]] Status held_failure(int result, const wire::Spawn& spawn, const std::string& cwd);

}  // namespace oyat::agent
