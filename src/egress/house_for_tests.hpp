#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <boost/json/serialize.hpp>

#include "base/throwing.hpp"
#include "core/fakes_for_tests.hpp"
#include "egress/egress.hpp"
#include "io/acceptor.hpp"
#include "io/async_fd.hpp"
#include "io/connect.hpp"
#include "io/listen.hpp"
#include "io/loop.hpp"
#include "io/stream.hpp"
#include "io/task_group.hpp"
#include "io/timer.hpp"

// For the tests of this room: a sandbox's way out on plain loopback sockets.
namespace oyat::egress::testing {

inline constexpr Millis kSoon{5000};
inline const std::string kBox = "i0123456789abcdefghij";

class NoLog final : public core::AuditLog {
public:
    void append(const core::Event& event) override {
        if (fail) throw Error{Errc::unavailable, "disk full"};
        lines.push_back(event.type + " " + boost::json::serialize(event.fields));
    }
    [[nodiscard]] bool has(std::string_view type, std::string_view part) const {
        for (const std::string& line : lines) {
            if (line.starts_with(type) && line.find(part) != std::string::npos) return true;
        }
        return false;
    }
    std::vector<std::string> lines;
    bool fail = false;
};

inline SocketAddress loopback(std::uint16_t port = 0) {
    return or_throw(SocketAddress::ip("127.0.0.1", port));
}

inline Fd udp_socket() {
    Fd fd{sys(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket")};
    const SocketAddress any = loopback();
    sys(::bind(fd.get(), any.data(), any.size()), "bind");
    return fd;
}

inline core::PolicyPtr open(std::uint64_t generation) {
    return std::make_shared<policy::Policy>(policy::Policy{.generation = generation});
}
inline core::PolicyPtr offline(std::uint64_t generation) {
    policy::Document nothing;
    nothing.rules.push_back({.id = "offline", .action = policy::Action::deny});
    return std::make_shared<policy::Policy>(policy::Policy{
        .generation = generation,
        .layers = {{policy::Layer::sandbox, std::make_shared<policy::Document>(std::move(nothing))}}});
}

// One sandbox's way out on plain loopback sockets. Where its connections "were going" is set by the test.
struct House {
    explicit House(Executor loop, EgressConfig settings = {}) : executor{loop} {
        resolver = udp_socket();
        if (settings.upstreams.resolvers.empty()) {
            settings.upstreams.resolvers = {{.address = local_address(resolver.get())}};
        }
        settings.upstreams.try_limit = Millis{200};
        settings.open_always_deny.push_back(local_address(service.get()).to_string());
        settings.original_destination = [this](int) { return going_to; };
        going_to = local_address(service.get());
        config = std::move(settings);
        egress = make_egress(loop, bus, clock, store, config);
        move_in();
    }

    // The sandbox's listeners, as the keeper makes them.
    void move_in() {
        core::EgressSockets sockets{listen_tcp(loopback()), udp_socket(), listen_tcp(loopback())};
        proxy = local_address(sockets.tcp.get());
        dns_udp = local_address(sockets.dns_udp.get());
        dns_tcp = local_address(sockets.dns_tcp.get());
        egress->attach(kBox, "acme", std::move(sockets), open(1));
    }

    // The egress of an oyatd that was started anew, on the same store.
    Task<> start_again() {
        egress = make_egress(executor, bus, clock, store, config);
        co_await egress->load();
    }

    Task<std::unique_ptr<Stream>> connect_out() {
        Fd socket = co_await connect(proxy, kSoon);
        co_return make_stream(executor, std::move(socket));
    }
    Task<std::unique_ptr<Stream>> accept_in() {
        Acceptor::Connection got = co_await with_timeout(kSoon, "accept", acceptor.accept());
        co_return make_stream(executor, std::move(got.socket));
    }

    Executor executor;
    EgressConfig config;
    SystemClock clock;
    NoLog log;
    core::EventBus bus{clock, log};
    core::FakeStore store;
    Fd service = listen_tcp(loopback());  // out in the world, as far as the sandbox knows
    Fd resolver;
    std::optional<SocketAddress> going_to;
    SocketAddress proxy, dns_udp, dns_tcp;
    std::unique_ptr<Egress> egress;
    Acceptor acceptor{executor, Fd{::dup(service.get())}};
};

using Body = Task<> (*)(House&);

inline void in_house(Body body, EgressConfig settings = {}) {
    Loop loop;
    House house{loop.executor(), std::move(settings)};
    loop.run([](House& h, Body b) -> Task<> {
        co_await with_timeout(Millis{20'000}, "the test", b(h));
        co_await h.egress->close();
    }(house, body));
}

}  // namespace oyat::egress::testing
