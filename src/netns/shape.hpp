#pragma once

#include <cstdint>

namespace oyat::netns {

// How a sandbox is joined to its network namespace.
//   loopback: its processes stand in it, on the host's own network stack (jail).
//   tap:      a machine with a network stack of its own has the other end of a tap (microvm).
//   veth:     a network stack in user space has the other end of a veth, in a second namespace (gvisor).
enum class Shape : std::uint8_t { loopback, tap, veth };

// The sandbox's own address, whatever the shape.
inline constexpr std::uint32_t kOwnAddress = 0x0AFE0002;  // 10.254.0.2, host order
// Ours beside it, where there is a link between them: its gateway.
inline constexpr std::uint32_t kGatewayAddress = 0x0AFE0001;  // 10.254.0.1
inline constexpr std::uint8_t kGatewayPrefix = 30;            // nobody else fits in

}  // namespace oyat::netns
