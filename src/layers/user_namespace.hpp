#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/fd.hpp"

namespace oyat::layers {

// Makes user namespaces that map 0..65535 to base..base+65535, for users and groups alike. No process lives
// in one: the descriptor alone keeps it, for id-mapped mounts.
//
// A namespace is born with a process in it, which is killed once the maps are written. Nobody waits until it
// has run to its end: on a busy machine that takes longer than all the rest of a sandbox's file system.
class UserNamespaces {
public:
    UserNamespaces();
    UserNamespaces(const UserNamespaces&) = delete;
    UserNamespaces& operator=(const UserNamespaces&) = delete;
    ~UserNamespaces();

    [[nodiscard]] Fd make(std::uint32_t base);

private:
    static constexpr std::size_t kStackBytes = std::size_t{64} << 10;

    void reap_ended();

    // Of all helpers, one after the other: what a killed one does from then on, it does in the kernel.
    std::unique_ptr<std::byte[]> stack_;
    std::vector<pid_t> killed_;
};

}  // namespace oyat::layers
