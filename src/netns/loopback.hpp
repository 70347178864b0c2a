#pragma once

#include <cstdint>

namespace oyat::netns {

// The sandbox's own address; nothing else of 10.254.0.0/16 exists inside.
inline constexpr std::uint32_t kOwnAddress = 0x0AFE0002;  // 10.254.0.2, host order

// Brings up `lo` of the calling thread's namespace with our address and a default route into it, so that a
// connection to anywhere has a way out, which the rules then turn to the proxy. IPv6 gets ::1 and no route.
void bring_up_loopback();

}  // namespace oyat::netns
