#pragma once

#include <sys/socket.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/throwing.hpp"
#include "egress/dns_message.hpp"
#include "http/tls.hpp"
#include "io/acceptor.hpp"
#include "io/async_fd.hpp"
#include "io/listen.hpp"
#include "io/stream.hpp"
#include "io/task_group.hpp"

// For the tests of this room: a resolver on loopback, over UDP and TCP on one port, that says what the test
// wants.
namespace oyat::egress::testing {

// One record of a reply, for the name that was asked for.
inline std::string record(dns::Type type, std::string_view data, std::uint32_t ttl = 60) {
    std::string out{"\xC0\x0C", 2};
    const auto kind = std::to_underlying(type);
    out += {static_cast<char>(kind >> 8), static_cast<char>(kind & 0xFF), 0, 1};
    out += {static_cast<char>(ttl >> 24), static_cast<char>(ttl >> 16 & 0xFF)};
    out += {static_cast<char>(ttl >> 8 & 0xFF), static_cast<char>(ttl & 0xFF)};
    out += {static_cast<char>(data.size() >> 8), static_cast<char>(data.size() & 0xFF)};
    return out += data;
}

inline const std::string kSomewhere = record(dns::Type::a, {"\xC0\x00\x02\x07", 4});  // 192.0.2.7

struct ReplyForm {
    std::string records = kSomewhere;
    int count = 1;
    dns::Rcode rcode = dns::Rcode::ok;
    bool truncated = false;
};

// The reply to a question that oyatd sent.
inline std::string reply_to(std::string question, const ReplyForm& form = {}) {
    question.resize(question.size() - 11);  // without its OPT record
    question[2] = static_cast<char>(form.truncated ? 0x83 : 0x81);
    question[3] = static_cast<char>(0x80 | std::to_underlying(form.rcode));
    question[7] = static_cast<char>(form.count);
    question[11] = 0;
    return question + form.records;
}

class FakeResolver {
public:
    // The datagrams or messages that answer one question.
    using Say = std::function<std::vector<std::string>(const std::string& question)>;

    FakeResolver(Executor loop, Say by_datagram, Say by_stream, http::TlsContext* tls = nullptr)
        : executor{loop},
          say_by_datagram{std::move(by_datagram)},
          say_by_stream{std::move(by_stream)},
          tls_{tls},
          tcp_{loop, listen_tcp(or_throw(SocketAddress::ip("127.0.0.1", 0)))},
          udp_{loop, Fd{sys(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket")}},
          address{local_address(tcp_.native_fd())},
          tasks_{loop} {
        sys(::bind(udp_.get(), address.data(), address.size()), "bind");
        tasks_.spawn(serve_datagrams());
        tasks_.spawn(serve_streams());
    }
    Task<> close() { co_await tasks_.close(); }
    void hang_up() { hang_up_after_answer = true; }

private:
    Executor executor;

public:
    Say say_by_datagram;
    Say say_by_stream;
    int datagrams = 0;
    int connections = 0;
    int stream_questions = 0;
    bool hang_up_after_answer = false;

private:
    Task<> serve_datagrams() {
        for (;;) {
            std::array<char, 1500> buffer;
            sockaddr_storage from{};
            socklen_t size = sizeof from;
            co_await udp_.readable();
            const ssize_t n = ::recvfrom(udp_.get(), buffer.data(), buffer.size(), 0,
                                         reinterpret_cast<sockaddr*>(&from), &size);
            if (n < 0) continue;
            ++datagrams;
            for (const std::string& reply : say_by_datagram({buffer.data(), static_cast<std::size_t>(n)})) {
                ::sendto(udp_.get(), reply.data(), reply.size(), 0, reinterpret_cast<sockaddr*>(&from), size);
            }
        }
    }

    Task<> serve_streams() {
        for (;;) {
            Acceptor::Connection connection = co_await tcp_.accept();
            ++connections;
            tasks_.spawn(serve_stream(std::move(connection.socket)));
        }
    }

    Task<> serve_stream(Fd socket) {
        try {
            std::unique_ptr<Stream> stream = make_stream(executor, std::move(socket));
            if (tls_ != nullptr) stream = (co_await http::tls_accept(*tls_, std::move(stream))).stream;
            do {
                std::array<char, 1500> buffer;  // a question is short and comes in one piece
                const std::size_t n = co_await stream->read_some(buffer);
                if (n < 2) co_return;
                ++stream_questions;
                for (const std::string& reply : say_by_stream({buffer.data() + 2, n - 2})) {
                    const std::string length{static_cast<char>(reply.size() >> 8),
                                             static_cast<char>(reply.size() & 0xFF)};
                    co_await stream->write_all(length + reply);
                }
            } while (!hang_up_after_answer);
        } catch (const Error& error) {
            if (error.code() == Errc::canceled) throw;  // else the other side left
        }
    }

    http::TlsContext* tls_;
    Acceptor tcp_;
    AsyncFd udp_;

public:
    const SocketAddress address;

private:
    TaskGroup tasks_;
};

}  // namespace oyat::egress::testing
