#pragma once

#include <string>

#include "engine/microvm/places.hpp"

namespace oyat::microvm {

// What a guest starts from, kept under the digest of all of it.
struct GuestFiles {
    std::string digest;
    std::string release;  // "6.1.0-57-cloud-amd64"
};

[[nodiscard]] std::string kernel_file(const Places& places, const std::string& digest);
[[nodiscard]] std::string initrd_file(const Places& places, const std::string& digest);

// Makes them from the kernel's directory and the agent, if they are not there: a third of a second. Throws
// `not_found` when there is no kernel. What was made of earlier kernels stays: saved machines start with it.
[[nodiscard]] GuestFiles make_guest_files(const Places& places);

}  // namespace oyat::microvm
