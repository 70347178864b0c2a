#pragma once

#include <array>
#include <cstdint>

#include "base/fd.hpp"

namespace oyat::netns {

using MacAddress = std::array<std::uint8_t, 6>;

// The same in every namespace: a sandbox that goes on elsewhere after a restore finds the gateway that its
// neighbour table names. A sandbox's own is the one that it must take.
inline constexpr MacAddress kGatewayMac{0x02, 0x65, 0x72, 0x67, 0x00, 0x01};
inline constexpr MacAddress kOwnMac{0x02, 0x65, 0x72, 0x67, 0x00, 0x02};

// All of these work on the calling thread's namespace, which is new and has nothing but `lo`.

// Brings up `lo` with our address and a default route into it, so that a connection to anywhere has a way
// out, which the rules then turn to the proxy. IPv6 gets ::1 and no route.
void bring_up_loopback();

// A tap, down and without an address. The descriptor is the other end, for a machine (frames with a virtio
// header, no packet information), and the tap ends with its last copy, which takes the kernel 40 ms.
[[nodiscard]] Fd open_tap(const char* name, const MacAddress& address);
// The tap `t0` with the gateway's address, up.
[[nodiscard]] Fd make_tap();

// Makes a veth: `out` here, with the gateway's address, and `eth0` in the namespace `inner`. Once both ends
// are up the kernel takes a moment to see that `out` has a peer; what is sent until then is lost.
void make_veth(int inner);
// In that one: eth0 with the sandbox's address, and the default route to the gateway.
void bring_up_inner_end();

}  // namespace oyat::netns
