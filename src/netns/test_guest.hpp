#pragma once

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>

#include "base/throwing.hpp"
#include "netns/links.hpp"
#include "netns/netns.hpp"
#include "netns/visit.hpp"

namespace oyat::netns::test {

// What stands at the other end of a link: another namespace, whose network stack plays the sandbox's. A tap's
// frames are carried over to a second tap there, as a machine's network card would.
class Guest {
public:
    explicit Guest(Netns& netns) {
        if (netns.shape() == Shape::veth) {
            inner_ = netns.inner();
            await_peer(netns);
            return;
        }
        outer_tap_ = netns.tap();
        const Visit visit{Visit::NewNamespace{}};
        own_ = Visit::open_here();
        inner_ = own_.get();
        inner_tap_ = open_tap("eth0", kOwnMac);
        bring_up_inner_end();
        carrier_.emplace([this] { carry(); });
    }
    ~Guest() {
        if (!carrier_) return;
        ::eventfd_write(stop_.get(), 1);
        carrier_->join();
    }
    Guest(const Guest&) = delete;
    Guest& operator=(const Guest&) = delete;

    [[nodiscard]] int netns() const noexcept { return inner_; }

private:
    static constexpr int kUp = 6;  // IF_OPER_UP of linux/if.h, which does not go with net/if.h

    // An end that was up before its peer carries nothing until the kernel has noticed.
    static void await_peer(const Netns& netns) {
        const Visit visit{netns.fd()};
        while (operational_state(::if_nametoindex("out")) != kUp) std::this_thread::yield();
    }

    static int operational_state(unsigned index) {
        struct {
            nlmsghdr header{.nlmsg_len = sizeof(nlmsghdr) + sizeof(ifinfomsg),
                            .nlmsg_type = RTM_GETLINK,
                            .nlmsg_flags = NLM_F_REQUEST};
            ifinfomsg link{};
        } question;
        question.link.ifi_index = static_cast<int>(index);
        const Fd netlink{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)};
        alignas(nlmsghdr) std::array<std::byte, 16384> answer;
        if (::send(netlink.get(), &question, sizeof question, 0) < 0) return -1;
        const ssize_t length = ::recv(netlink.get(), answer.data(), answer.size(), 0);
        const auto* header = reinterpret_cast<const nlmsghdr*>(answer.data());
        if (!NLMSG_OK(header, length) || header->nlmsg_type != RTM_NEWLINK) return -1;
        auto left = static_cast<int>(IFLA_PAYLOAD(header));
        for (const rtattr* at = IFLA_RTA(NLMSG_DATA(header)); RTA_OK(at, left); at = RTA_NEXT(at, left)) {
            if (at->rta_type == IFLA_OPERSTATE) return *static_cast<const std::uint8_t*>(RTA_DATA(at));
        }
        return -1;
    }

    void carry() const {
        std::array<pollfd, 3> wait{pollfd{outer_tap_.get(), POLLIN, 0}, pollfd{inner_tap_.get(), POLLIN, 0},
                                   pollfd{stop_.get(), POLLIN, 0}};
        std::array<std::byte, 70'000> frame;
        for (;;) {
            ::poll(wait.data(), wait.size(), -1);
            if (wait[2].revents != 0) return;
            for (std::size_t from = 0; from < 2; ++from) {
                const ssize_t length = ::read(wait.at(from).fd, frame.data(), frame.size());
                if (length > 0 &&
                    ::write(wait.at(1 - from).fd, frame.data(), static_cast<std::size_t>(length)) < 0) {
                    continue;  // a full queue loses frames, as on any wire
                }
            }
        }
    }

    Fd stop_{::eventfd(0, EFD_CLOEXEC)};
    Fd own_;
    Fd outer_tap_;
    Fd inner_tap_;
    int inner_ = -1;
    std::optional<std::thread> carrier_;
};

}  // namespace oyat::netns::test
