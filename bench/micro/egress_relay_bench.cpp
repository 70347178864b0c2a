// What the way out costs: bytes through it beside a plain loopback connection and a minimal copying proxy,
// what it adds to a new connection, and the memory of 10,000 open ones. The way out is alone in its process;
// programs, service and peer are threads of another one. Prints one JSON line a figure.

#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/throwing.hpp"
#include "core/fakes_for_tests.hpp"
#include "egress/egress.hpp"
#include "io/async_fd.hpp"
#include "io/listen.hpp"
#include "io/loop.hpp"

namespace {

using namespace oyat;
using namespace oyat::egress;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kBig = 1ull << 30;
constexpr int kRounds = 5, kConnections = 3000, kOpen = 10'000;
constexpr std::size_t kBlock = 64 * 1024;

class NoRecord final : public core::AuditLog {
public:
    void append(const core::Event&) override {}
};

SocketAddress loopback(std::uint16_t port = 0) {
    return or_throw(SocketAddress::ip("127.0.0.1", port));
}

// A listener whose accept blocks.
Fd listener() {
    Fd socket{sys(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "make a socket")};
    const SocketAddress any = loopback();
    sys(::bind(socket.get(), any.data(), any.size()), "bind");
    sys(::listen(socket.get(), 4096), "listen");
    return socket;
}

Fd connected_to(const SocketAddress& address) {
    Fd socket{sys(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "make a socket")};
    const int on = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    sys(::connect(socket.get(), address.data(), address.size()), "connect");
    return socket;
}

bool send_all(int socket, const char* bytes, std::size_t count) {
    while (count > 0) {
        const ssize_t n = ::send(socket, bytes, count, MSG_NOSIGNAL);
        if (n <= 0) return false;
        bytes += n;
        count -= static_cast<std::size_t>(n);
    }
    return true;
}

// Asked with one byte: 'd' sends the big file, 'e' echoes and ends, 'h' holds the connection until the other
// side ends it.
void serve(int listening) {
    std::vector<Fd> held;
    const std::vector<char> block(kBlock, 'x');
    for (;;) {
        Fd socket{::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC)};
        if (!socket) return;
        char what = 0;
        if (::recv(socket.get(), &what, 1, 0) != 1) continue;
        if (what == 'h') {
            send_all(socket.get(), &what, 1);
            held.push_back(std::move(socket));
        } else if (what == 'e') {
            send_all(socket.get(), &what, 1);
        } else {
            for (std::uint64_t sent = 0; sent < kBig && send_all(socket.get(), block.data(), kBlock);)
                sent += kBlock;
        }
    }
}

// The peer: reads and writes, with a thread for each direction.
void copy(int from, int to) {
    std::vector<char> buffer(kBlock);
    for (;;) {
        const ssize_t n = ::recv(from, buffer.data(), buffer.size(), 0);
        if (n <= 0 || !send_all(to, buffer.data(), static_cast<std::size_t>(n))) break;
    }
    ::shutdown(to, SHUT_WR);
}

void copying_proxy(int listening, SocketAddress service) {
    for (;;) {
        const Fd inside{::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC)};
        if (!inside) return;
        const Fd outside = connected_to(service);
        std::jthread up{[&] { copy(inside.get(), outside.get()); }};
        copy(outside.get(), inside.get());
        ::shutdown(inside.get(), SHUT_RDWR);
    }
}

void report(const std::string& name, double value, const char* unit) {
    std::printf("{\"name\":\"%s\",\"value\":%.3f,\"unit\":\"%s\"}\n", name.c_str(), value, unit);
    std::fflush(stdout);
}

double median(std::vector<double> samples) {
    std::ranges::sort(samples);
    return samples[samples.size() / 2];
}

double download(const SocketAddress& address) {
    const Fd socket = connected_to(address);
    std::vector<char> buffer(4 * kBlock);
    const auto before = Clock::now();
    send_all(socket.get(), "d", 1);
    std::uint64_t got = 0;
    for (ssize_t n = 0; (n = ::recv(socket.get(), buffer.data(), buffer.size(), 0)) > 0;)
        got += static_cast<std::uint64_t>(n);
    if (got != kBig) throw Error{Errc::internal, "the download was cut"};
    return kBig / 1e6 / std::chrono::duration<double>(Clock::now() - before).count();
}

double first_byte(const SocketAddress& address) {
    const auto before = Clock::now();
    const Fd socket = connected_to(address);
    char byte = 'e';
    send_all(socket.get(), &byte, 1);
    if (::recv(socket.get(), &byte, 1, 0) != 1) throw Error{Errc::internal, "no answer"};
    return std::chrono::duration<double, std::milli>(Clock::now() - before).count();
}

double resident_kib_of_way_out() {
    std::ifstream statm{"/proc/" + std::to_string(::getppid()) + "/statm"};
    double total = 0, resident = 0;
    statm >> total >> resident;
    return resident * 4;
}

struct Ways {
    SocketAddress direct, copied, oyat;
};

void measure(const Ways& ways) {
    std::vector<double> direct, copied, oyat;
    for (int round = 0; round < kRounds; ++round) {
        direct.push_back(download(ways.direct));
        copied.push_back(download(ways.copied));
        oyat.push_back(download(ways.oyat));
    }
    report("direct", median(direct), "MB/s");
    report("copying_proxy", median(copied), "MB/s");
    report("pass_through", median(oyat), "MB/s");
    report("pass_through_over_copying_proxy", median(oyat) / median(copied), "x");

    std::vector<double> plain, proxied;
    for (int i = 0; i < kConnections; ++i) {
        plain.push_back(first_byte(ways.direct));
        proxied.push_back(first_byte(ways.oyat));
    }
    report("first_byte_direct_p50", median(plain), "ms");
    report("first_byte_added_p50", median(proxied) - median(plain), "ms");

    rlimit descriptors{};
    ::getrlimit(RLIMIT_NOFILE, &descriptors);
    // Each takes two of each process.
    const int count = std::min<int>(kOpen, static_cast<int>(descriptors.rlim_cur / 2) - 100);
    std::vector<Fd> open;
    const double before = resident_kib_of_way_out();
    for (int i = 0; i < count; ++i) {
        open.push_back(connected_to(ways.oyat));
        char byte = 'h';
        send_all(open.back().get(), &byte, 1);
        if (::recv(open.back().get(), &byte, 1, 0) != 1)
            throw Error{Errc::internal, "a connection was refused"};
    }
    report("open_connections", count, "");
    report("memory_of_each", (resident_kib_of_way_out() - before) / count, "KiB");
}

// Runs one sandbox's way out to `service` until `measured` is closed; `ready` hears where its programs
// arrive.
Task<> run_way_out(SocketAddress service, Fd measured, std::function<void(SocketAddress)> ready) {
    const Executor executor = co_await boost::asio::this_coro::executor;
    SystemClock clock;
    NoRecord record;
    core::EventBus events{clock, record};
    core::FakeStore store;
    EgressConfig config;
    config.open_always_deny = {service.to_string()};
    config.original_destination = [service](int) { return std::optional{service}; };
    config.limits.connections = config.limits.connections_of_all = 2 * kOpen;
    config.limits.up_bytes_a_day = config.limits.down_bytes_a_day = 0;
    config.limits.connections_per_second = config.limits.connections_burst = 1e6;
    const std::unique_ptr<Egress> egress = make_egress(executor, events, clock, store, std::move(config));
    const auto datagrams = [] {
        Fd socket{sys(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "make a socket")};
        const SocketAddress any = loopback();
        sys(::bind(socket.get(), any.data(), any.size()), "bind");
        return socket;
    };
    core::EgressSockets sockets{listen_tcp(loopback()), datagrams(), listen_tcp(loopback())};
    const SocketAddress inside = local_address(sockets.tcp.get());
    egress->attach("i0123456789abcdefghij", "acme", std::move(sockets), policy::Policy::open());
    ready(inside);
    AsyncFd end{executor, std::move(measured)};
    co_await end.readable();
    co_await egress->close();
}

}  // namespace

int main() {
    rlimit descriptors{};
    sys(::getrlimit(RLIMIT_NOFILE, &descriptors), "look at the limit of descriptors");
    descriptors.rlim_cur = descriptors.rlim_max;
    sys(::setrlimit(RLIMIT_NOFILE, &descriptors), "raise the limit of descriptors");
    const Fd service = listener(), proxy = listener();
    const SocketAddress direct = local_address(service.get()), copied = local_address(proxy.get());
    std::array<int, 2> where{}, running{};
    sys(::pipe2(where.data(), O_CLOEXEC), "make a pipe");
    sys(::pipe2(running.data(), O_CLOEXEC | O_NONBLOCK), "make a pipe");
    const pid_t other = ::fork();
    sys(other, "fork");
    if (other == 0) {
        ::close(running[0]);
        std::jthread server{[&] { serve(service.get()); }};
        std::jthread peer{[&] { copying_proxy(proxy.get(), direct); }};
        std::uint16_t port = 0;
        if (::read(where[0], &port, sizeof port) != sizeof port) std::_Exit(1);
        measure({.direct = direct, .copied = copied, .oyat = loopback(port)});
        std::_Exit(0);
    }
    ::close(running[1]);
    Loop loop;
    loop.run(run_way_out(direct, Fd{running[0]}, [&](SocketAddress inside) {
        const std::uint16_t port = inside.port();
        if (::write(where[1], &port, sizeof port) != sizeof port) std::abort();
    }));
    int status = 0;
    sys(::waitpid(other, &status, 0), "wait for the measuring process");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
