#pragma once

#include <sys/types.h>

namespace oyat::agent {

// Signals a process and all that can be found of its family by looking through /proc: descendants, and
// whoever shares a session or a process group with one of them. For engines that give the agent no cgroup: a
// daemon whose parents are gone and that made its own session is out of reach of this. Of a leader that was
// buried already only the number is left: while its session lives nobody else gets it, and once somebody else
// has it there is no family any more.
enum class Leader { there, buried };
void signal_tree(pid_t number_of_leader, Leader leader, int number);

}  // namespace oyat::agent
