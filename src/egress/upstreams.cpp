#include "egress/upstreams.hpp"

#include <sys/random.h>
#include <sys/socket.h>

#include <array>
#include <fstream>
#include <sstream>

#include "base/defer.hpp"
#include "base/throwing.hpp"
#include "io/async_fd.hpp"
#include "io/connect.hpp"
#include "io/stream.hpp"
#include "io/timer.hpp"

namespace oyat::egress {
namespace {

constexpr std::uint16_t kDnsPort = 53;
constexpr std::size_t kMaxServers = 3;
constexpr int kMaxStrays = 32;  // datagrams that answer nothing of ours, before a socket is given up

std::uint16_t random_id() {
    std::uint16_t id = 0;
    sys(::getrandom(&id, sizeof id, 0), "get a random number");
    return id;
}

bool answers(const dns::Reply& reply, std::uint16_t id, const dns::Question& question) {
    return reply.id == id && reply.question.type == question.type &&
           dns::same_name(reply.question.name, question.name);
}

Task<> read_exactly(Stream& stream, std::span<char> into) {
    while (!into.empty()) {
        const std::size_t n = co_await stream.read_some(into);
        if (n == 0) throw Error{Errc::unavailable, Fault::upstream, "the resolver hung up"};
        into = into.subspan(n);
    }
}

}  // namespace

std::vector<SocketAddress> parse_resolv_conf(std::string_view text) {
    std::vector<SocketAddress> servers;
    std::istringstream lines{std::string{text}};
    for (std::string line; std::getline(lines, line) && servers.size() < kMaxServers;) {
        std::istringstream words{line};
        std::string keyword, address;
        if (!(words >> keyword >> address) || keyword != "nameserver") continue;
        // "fe80::1%eth0" is left out: a scope means nothing to a socket address of ours.
        if (auto server = SocketAddress::ip(address, kDnsPort)) servers.push_back(*server);
    }
    if (servers.empty()) servers.push_back(or_throw(SocketAddress::ip("127.0.0.1", kDnsPort)));
    return servers;
}

Upstreams::Upstreams(Executor executor, UpstreamOptions options)
    : executor_{std::move(executor)}, options_{std::move(options)}, servers_{options_.servers} {
    refresh();
}

void Upstreams::refresh() {
    if (!options_.servers.empty()) return;
    struct stat now{};
    const bool there = ::stat(options_.resolv_conf.c_str(), &now) == 0;
    if (there && !servers_.empty() && now.st_ino == read_inode_ && now.st_ctim.tv_sec == read_as_of_.tv_sec &&
        now.st_ctim.tv_nsec == read_as_of_.tv_nsec) {
        return;
    }
    std::ostringstream text;
    if (there) text << std::ifstream{options_.resolv_conf}.rdbuf();
    servers_ = parse_resolv_conf(text.str());
    read_inode_ = now.st_ino;
    read_as_of_ = now.st_ctim;
}

Task<dns::Reply> Upstreams::ask(dns::Question question) {
    if (open_ >= options_.max_open) throw Error{Errc::exhausted, "too many DNS questions under way"};
    ++open_;
    const Defer done{[this] { --open_; }};
    refresh();
    std::string problem = "no resolver answered";
    for (int attempt = 0; attempt < options_.tries; ++attempt) {
        const SocketAddress server = servers_[static_cast<std::size_t>(attempt) % servers_.size()];
        try {
            dns::Reply reply = co_await ask_one(server, question);
            if (reply.rcode == dns::Rcode::ok || reply.rcode == dns::Rcode::no_such_name) co_return reply;
            problem = "the resolver refused";
        } catch (const Error& error) {
            if (error.code() == Errc::canceled) throw;
            problem = error.message();
        }
    }
    throw Error{Errc::unavailable, Fault::upstream, std::move(problem)};
}

Task<dns::Reply> Upstreams::ask_one(SocketAddress server, dns::Question question) {
    dns::Reply reply =
        co_await with_timeout(options_.try_limit, "ask the resolver", ask_by_datagram(server, question));
    if (reply.truncated) {
        reply =
            co_await with_timeout(options_.try_limit, "ask the resolver", ask_by_stream(server, question));
    }
    co_return reply;
}

Task<dns::Reply> Upstreams::ask_by_datagram(SocketAddress server, dns::Question question) {
    // A socket for each question: the kernel's random port and the random id together are what a forger must
    // guess.
    AsyncFd socket{executor_, Fd{sys(::socket(server.family(), SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
                                     "open a socket to the resolver")}};
    sys(::connect(socket.get(), server.data(), server.size()), "reach the resolver");
    const std::uint16_t id = random_id();
    const std::string message = dns::write_query(id, question);
    sys(::send(socket.get(), message.data(), message.size(), MSG_NOSIGNAL), "ask the resolver");
    for (int strays = 0; strays < kMaxStrays;) {
        std::array<char, 4096> buffer;
        const ssize_t n = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
        if (n < 0 && errno == EAGAIN) {
            co_await socket.readable();
            continue;
        }
        sys(n, "hear from the resolver");
        Result<dns::Reply> reply = dns::parse_reply({buffer.data(), static_cast<std::size_t>(n)});
        if (reply && answers(*reply, id, question)) co_return *std::move(reply);
        ++strays;
    }
    throw Error{Errc::unavailable, Fault::upstream, "the resolver sent nothing that fits"};
}

Task<dns::Reply> Upstreams::ask_by_stream(SocketAddress server, dns::Question question) {
    Fd socket = co_await connect(server, options_.try_limit);
    const std::unique_ptr<Stream> stream = make_stream(executor_, std::move(socket));
    const std::uint16_t id = random_id();
    std::string message = dns::write_query(id, question);
    const std::array<char, 2> length{static_cast<char>(message.size() >> 8),
                                     static_cast<char>(message.size() & 0xFF)};
    message.insert(0, length.data(), length.size());
    co_await stream->write_all(message);
    std::array<char, 2> size{};
    co_await read_exactly(*stream, size);
    std::string bytes(static_cast<std::size_t>(static_cast<std::uint8_t>(size[0])) << 8 |
                          static_cast<std::uint8_t>(size[1]),
                      '\0');
    co_await read_exactly(*stream, bytes);
    Result<dns::Reply> reply = dns::parse_reply(bytes);
    if (!reply || !answers(*reply, id, question)) {
        throw Error{Errc::unavailable, Fault::upstream, "the resolver sent nothing that fits"};
    }
    reply->truncated = false;
    co_return *std::move(reply);
}

}  // namespace oyat::egress
