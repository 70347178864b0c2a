#pragma once

#include <sys/mount.h>

#include <string>

#include "base/fd.hpp"

namespace oyat::agent {

inline constexpr unsigned long kPlainMount = MS_NOSUID | MS_NODEV | MS_NOEXEC;

struct GuestDisks {
    std::string base;   // erofs, shared with other machines
    std::string upper;  // ext4, this machine's own
};

// Makes / of the two disks, with /dev, /proc and /sys as programs in a jail find them, and enters it. Gives
// the control group that commands go into.
[[nodiscard]] Fd enter_root(const GuestDisks& disks);

// Host name, /etc/hostname, /etc/hosts.
void name_machine(const std::string& id);

}  // namespace oyat::agent
