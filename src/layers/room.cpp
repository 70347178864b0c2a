#include "layers/room.hpp"

#include <sys/statvfs.h>

#include "base/throwing.hpp"

namespace oyat::layers {

StoreRoom room_of(int store, const std::string& state_dir) {
    struct statvfs own{};
    struct statvfs host{};
    sys(::fstatvfs(store, &own), "statfs of the store");
    sys(::statvfs(state_dir.c_str(), &host), "statfs of the state");
    return {.free = own.f_bavail * own.f_frsize,
            .total = own.f_blocks * own.f_frsize,
            .host_free = host.f_bavail * host.f_frsize,
            .host_total = host.f_blocks * host.f_frsize};
}

}  // namespace oyat::layers
