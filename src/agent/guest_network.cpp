#include "agent/guest_network.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <net/route.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

#include "agent/guest.hpp"
#include "agent/small_file.hpp"
#include "base/fd.hpp"

namespace oyat::agent {
namespace {

constexpr std::uint32_t kOwnAddress = 0x0AFE0002;  // 10.254.0.2
constexpr std::uint32_t kGateway = 0x0AFE0001;
constexpr std::uint32_t kNetmask = 0xFFFFFFFC;

sockaddr_in ipv4(std::uint32_t address) {
    sockaddr_in out{};
    out.sin_family = AF_INET;
    out.sin_addr.s_addr = htonl(address);
    return out;
}

ifreq named(const char* name) {
    ifreq request{};
    std::strcpy(request.ifr_name, name);
    return request;
}

void set_up(int socket, const char* name) {
    ifreq request = named(name);
    if (::ioctl(socket, SIOCGIFFLAGS, &request) != 0) guest_fails(name);
    request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
    if (::ioctl(socket, SIOCSIFFLAGS, &request) != 0) guest_fails(name);
}

void set_address(int socket, const char* name, unsigned long what, std::uint32_t address) {
    ifreq request = named(name);
    const sockaddr_in value = ipv4(address);
    std::memcpy(&request.ifr_addr, &value, sizeof value);
    if (::ioctl(socket, what, &request) != 0) guest_fails("set the address of eth0");
}

void add_default_route(int socket) {
    rtentry route{};
    const sockaddr_in any = ipv4(0);
    const sockaddr_in gateway = ipv4(kGateway);
    std::memcpy(&route.rt_dst, &any, sizeof any);
    std::memcpy(&route.rt_genmask, &any, sizeof any);
    std::memcpy(&route.rt_gateway, &gateway, sizeof gateway);
    route.rt_flags = RTF_UP | RTF_GATEWAY;
    if (::ioctl(socket, SIOCADDRT, &route) != 0) guest_fails("add the default route");
}

}  // namespace

void set_up_network() {
    const Fd socket{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    if (!socket) guest_fails("make a socket");
    set_up(socket.get(), "lo");
    ifreq card = named("eth0");
    if (::ioctl(socket.get(), SIOCGIFINDEX, &card) != 0) return;
    // Nothing leads outside by IPv6: programs are told so at once.
    static_cast<void>(write_small_file(AT_FDCWD, "/proc/sys/net/ipv6/conf/eth0/disable_ipv6", "1"));
    set_address(socket.get(), "eth0", SIOCSIFADDR, kOwnAddress);
    set_address(socket.get(), "eth0", SIOCSIFNETMASK, kNetmask);
    set_up(socket.get(), "eth0");
    add_default_route(socket.get());
}

}  // namespace oyat::agent
