#pragma once

#include "egress/dns_message.hpp"
#include "egress/fake_resolver_for_tests.hpp"
#include "egress/house_for_tests.hpp"
#include "io/datagram.hpp"

// For the tests of this room: a sandbox that asks its name server, and what the resolver of the host says.
namespace oyat::egress::testing {

using dns::Rcode;
using dns::Type;

// The resolver of the host: answers one question with these records.
inline Task<> answer_once(House& house, std::string records, int count, Rcode rcode = Rcode::ok) {
    AsyncFd socket{house.executor, Fd{::dup(house.resolver.get())}};
    std::array<char, 1500> buffer;
    co_await socket.readable();
    sockaddr_storage from{};
    socklen_t size = sizeof from;
    const ssize_t n =
        ::recvfrom(socket.get(), buffer.data(), buffer.size(), 0, reinterpret_cast<sockaddr*>(&from), &size);
    const std::string reply = reply_to({buffer.data(), static_cast<std::size_t>(n)},
                                       {.records = std::move(records), .count = count, .rcode = rcode});
    ::sendto(socket.get(), reply.data(), reply.size(), 0, reinterpret_cast<sockaddr*>(&from), size);
}

// The resolver of the host: hears everything and answers for one name alone.
inline Task<> answer_for(House& house, std::string name) {
    AsyncFd socket{house.executor, Fd{::dup(house.resolver.get())}};
    for (;;) {
        std::array<char, 1500> buffer;
        sockaddr_storage from{};
        socklen_t size = sizeof from;
        co_await socket.readable();
        const ssize_t n = ::recvfrom(socket.get(), buffer.data(), buffer.size(), 0,
                                     reinterpret_cast<sockaddr*>(&from), &size);
        if (n < 0) continue;
        const std::string question{buffer.data(), static_cast<std::size_t>(n)};
        if (dns::to_text(or_throw(dns::parse_query(question)).question.name) != name) continue;
        const std::string reply = reply_to(question);
        ::sendto(socket.get(), reply.data(), reply.size(), 0, reinterpret_cast<sockaddr*>(&from), size);
    }
}

inline std::string ask_for(std::string_view name, Type type) {
    return dns::write_query(77, {.name = or_throw(dns::to_wire(name)), .type = type});
}

// The whole answer, as bytes.
inline Task<std::string> hear(House& house, std::string_view name, Type type, SocketAddress server) {
    AsyncFd socket{house.executor, udp_socket()};
    sys(::connect(socket.get(), server.data(), server.size()), "connect");
    const std::string question = ask_for(name, type);
    ::send(socket.get(), question.data(), question.size(), 0);
    co_await with_timeout(kSoon, "wait for the answer", socket.readable());
    std::array<char, 1500> buffer;
    const ssize_t n = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
    co_return std::string{buffer.data(), static_cast<std::size_t>(n)};
}

inline Task<dns::Reply> ask(House& house, std::string_view name, Type type) {
    const std::string bytes = co_await hear(house, name, type, house.dns_udp);
    dns::Reply reply = or_throw(dns::parse_reply(bytes));
    EXPECT_EQ(reply.id, 77);
    co_return reply;
}

inline Task<dns::Reply> ask_with_resolver(House& house, std::string_view name, std::string records,
                                          int count) {
    TaskGroup resolver{house.executor};
    resolver.spawn(answer_once(house, std::move(records), count));
    dns::Reply reply = co_await ask(house, name, Type::a);
    co_await resolver.close();
    co_return reply;
}

// The resolver of the host knows no name at all.
inline Task<> know_nothing(House& house) {
    for (;;) co_await answer_once(house, "", 0, Rcode::no_such_name);
}

}  // namespace oyat::egress::testing
