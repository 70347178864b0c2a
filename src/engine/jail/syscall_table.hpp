#pragma once

#include <cstdint>
#include <span>
#include <string_view>

// Which system calls a program in a jail may not make, as data. Everything that is not named here is allowed:
// tools of this breadth (apt, npm, compilers, gdb) tolerate a deny list only. The kernel's own checks
// (capabilities, namespaces) stand behind each line; the filter shrinks what code of the kernel can be
// reached at all.
namespace oyat::jail {

enum class Refusal : std::uint8_t {
    eperm,   // "you may not"
    enosys,  // "there is no such call": libraries fall back to older ones
};

struct DeniedCall {
    std::uint32_t number = 0;
    std::string_view name;
    Refusal refusal = Refusal::eperm;
};

// Refused whatever their arguments are.
[[nodiscard]] std::span<const DeniedCall> denied_calls();

// Calls above this number did not exist when the table was written. They answer ENOSYS, so that what a later
// kernel adds stays shut until somebody has looked at it. (x86-64: removexattrat, Linux 6.13.)
inline constexpr std::uint32_t kNewestKnownCall = 466;

// The address families that socket(2) and socketpair(2) may have; of AF_NETLINK only protocol 0
// (NETLINK_ROUTE). AF_VSOCK would reach the hypervisor below the host, the others are large and rarely needed
// parts of the kernel.
[[nodiscard]] std::span<const std::uint32_t> allowed_socket_families();

// ioctl(2) requests that type into somebody's terminal.
[[nodiscard]] std::span<const std::uint32_t> denied_ioctls();

// Options of SOL_SOCKET that answer EPERM.
[[nodiscard]] std::span<const std::uint32_t> denied_socket_options();

// clone(2) with one of these flags is refused. clone3(2) keeps its flags in memory, where a filter cannot
// look: there max_user_namespaces = 0 and the missing CAP_SYS_ADMIN refuse.
inline constexpr std::uint32_t kNamespaceFlags = 0x7E020000;

}  // namespace oyat::jail
