#pragma once

#include <sys/types.h>

namespace oyat::agent {

// Signals a process and all that can be found of its family by looking through /proc: descendants, and
// whoever shares a session or a process group with one of them. For engines that give the agent no cgroup: a
// daemon whose parents are gone and that made its own session is out of reach of this.
void signal_tree(pid_t leader, int number);

}  // namespace oyat::agent
