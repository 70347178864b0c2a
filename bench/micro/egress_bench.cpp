// What a sandbox's program waits for a name: from the cache, from the operator's entries, and for an address
// of the other kind that does not exist. The name server is one thread on loopback, the resolver and the
// program are plain blocking sockets. Prints one JSON line a figure.

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "base/throwing.hpp"
#include "core/fakes_for_tests.hpp"
#include "egress/dns_message.hpp"
#include "egress/egress.hpp"
#include "io/gate.hpp"
#include "io/listen.hpp"
#include "io/loop.hpp"
#include "io/post.hpp"

namespace {

using namespace oyat;
using namespace oyat::egress;

constexpr int kQuestions = 20'000;
constexpr std::size_t kNames = 200;  // that are looked up in turn

class NoRecord final : public core::AuditLog {
public:
    void append(const core::Event&) override {}
};

Fd bound_socket() {
    Fd socket{sys(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "make a socket")};
    const SocketAddress any = or_throw(SocketAddress::ip("127.0.0.1", 0));
    sys(::bind(socket.get(), any.data(), any.size()), "bind");
    return socket;
}

std::string name_of(std::size_t number) {
    return "host-" + std::to_string(number % kNames) + ".example.test";
}

// Answers 192.0.2.7 to whatever is asked, until an empty datagram comes.
void resolve(int socket) {
    std::array<char, 1500> buffer;
    for (;;) {
        sockaddr_storage from{};
        socklen_t size = sizeof from;
        const ssize_t n =
            ::recvfrom(socket, buffer.data(), buffer.size(), 0, reinterpret_cast<sockaddr*>(&from), &size);
        if (n <= 0) return;
        const auto query = dns::parse_query({buffer.data(), static_cast<std::size_t>(n)});
        if (!query) continue;
        const dns::Answer answer{
            .records = {{query->question.name, dns::Type::a, 300, std::string{"\xC0\x00\x02\x07", 4}}}};
        const std::string reply = dns::write_answer(*query, answer, 512);
        ::sendto(socket, reply.data(), reply.size(), 0, reinterpret_cast<sockaddr*>(&from), size);
    }
}

class Program {
public:
    explicit Program(const SocketAddress& server) : socket_{bound_socket()} {
        sys(::connect(socket_.get(), server.data(), server.size()), "connect");
    }
    double micros_for(const std::string& name, dns::Type type) {
        const std::string question =
            dns::write_query(7, {.name = or_throw(dns::to_wire(name)), .type = type});
        std::array<char, 1500> buffer;
        const auto before = std::chrono::steady_clock::now();
        sys(::send(socket_.get(), question.data(), question.size(), 0), "ask");
        const ssize_t n = sys(::recv(socket_.get(), buffer.data(), buffer.size(), 0), "hear");
        const auto after = std::chrono::steady_clock::now();
        const dns::Reply reply = or_throw(dns::parse_reply({buffer.data(), static_cast<std::size_t>(n)}));
        if (reply.rcode != dns::Rcode::ok) throw Error{Errc::internal, "no answer for " + name};
        return std::chrono::duration<double, std::micro>(after - before).count();
    }

private:
    Fd socket_;
};

void report(const char* what, std::vector<double> micros) {
    std::ranges::sort(micros);
    for (const auto& [name, share] : {std::pair{"p50", 0.5}, {"p99", 0.99}}) {
        const auto at = static_cast<std::size_t>(share * static_cast<double>(micros.size() - 1));
        std::printf("{\"name\":\"dns_%s_%s\",\"value\":%.3f,\"unit\":\"us\"}\n", what, name, micros[at]);
    }
}

void measure(Program& program, const char* what, dns::Type type, std::size_t count,
             const std::string& name = "") {
    std::vector<double> micros;
    for (std::size_t i = 0; i < count; ++i) {
        micros.push_back(program.micros_for(name.empty() ? name_of(i) : name, type));
    }
    report(what, std::move(micros));
}

}  // namespace

int main() {
    const Fd resolver_socket = bound_socket();
    std::jthread resolver{[&] { resolve(resolver_socket.get()); }};
    Loop loop;
    SystemClock clock;
    NoRecord record;
    core::EventBus events{clock, record};
    core::FakeStore store;
    EgressConfig config;
    config.upstreams.resolvers = {{.address = local_address(resolver_socket.get())}};
    config.hosts = {{"db.internal", {"203.0.113.5"}}};
    config.limits.names_per_second = config.limits.names_burst = 1e9;
    const auto egress = make_egress(loop.executor(), events, clock, store, config);
    core::EgressSockets sockets{listen_tcp(or_throw(SocketAddress::ip("127.0.0.1", 0))), bound_socket(),
                                listen_tcp(or_throw(SocketAddress::ip("127.0.0.1", 0)))};
    const SocketAddress server = local_address(sockets.dns_udp.get());
    egress->attach("bench", "bench", std::move(sockets), policy::Policy::open());
    Gate done;
    std::jthread client{[&] {
        Program program{server};
        measure(program, "asked", dns::Type::a, kNames);
        measure(program, "cached", dns::Type::a, kQuestions);
        measure(program, "entry", dns::Type::a, kQuestions, "db.internal");
        measure(program, "no_ipv6", dns::Type::aaaa, kQuestions);
        post(loop.executor(), [&done] { done.open(); });
    }};
    loop.run([](Gate& gate, Egress& ends) -> Task<> {
        co_await gate.pass();
        co_await ends.close();
    }(done, *egress));
    // An empty datagram ends the resolver.
    const SocketAddress address = local_address(resolver_socket.get());
    ::sendto(resolver_socket.get(), "", 0, 0, address.data(), address.size());
}
