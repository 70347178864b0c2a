#include "egress/upstreams.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

#include "base/defer.hpp"
#include "base/throwing.hpp"
#include "egress/sent_question.hpp"
#include "io/async_fd.hpp"
#include "io/timer.hpp"

namespace oyat::egress {
namespace {

using Fit = SentQuestion::Fit;

constexpr int kMaxStrays = 32;  // datagrams that answer nothing of ours, before a socket is given up

std::optional<http::TlsContext> tls_if_needed(const UpstreamOptions& options) {
    if (std::ranges::none_of(options.resolvers, &Resolver::is_tls)) return std::nullopt;
    return tls_for_resolvers(options.authorities_pem);
}

}  // namespace

Upstreams::Upstreams(Executor executor, UpstreamOptions options)
    : executor_{std::move(executor)},
      options_{std::move(options)},
      resolvers_{options_.resolvers},
      streams_{executor_, tls_if_needed(options_)} {
    refresh();
}

void Upstreams::refresh() {
    if (!options_.resolvers.empty()) return;
    struct stat now{};
    const bool there = ::stat(options_.resolv_conf.c_str(), &now) == 0;
    if (there && !resolvers_.empty() && now.st_ino == read_inode_ &&
        now.st_ctim.tv_sec == read_as_of_.tv_sec && now.st_ctim.tv_nsec == read_as_of_.tv_nsec) {
        return;
    }
    std::ostringstream text;
    if (there) text << std::ifstream{options_.resolv_conf}.rdbuf();
    resolvers_ = parse_resolv_conf(text.str());
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
        Resolver resolver = resolvers_[static_cast<std::size_t>(attempt) % resolvers_.size()];
        try {
            dns::Reply reply = co_await with_timeout(options_.try_limit, "ask the resolver",
                                                     ask_one(std::move(resolver), question));
            if (reply.rcode == dns::Rcode::ok || reply.rcode == dns::Rcode::no_such_name) co_return reply;
            problem = "the resolver refused";
        } catch (const Error& error) {
            if (error.code() == Errc::canceled) throw;
            problem = error.message();
        }
    }
    throw Error{Errc::unavailable, Fault::upstream, std::move(problem)};
}

Task<dns::Reply> Upstreams::ask_one(Resolver resolver, dns::Question question) {
    if (resolver.transport == Resolver::Transport::datagram) {
        dns::Reply reply = co_await ask_by_datagram(resolver, question);
        if (!reply.truncated) co_return reply;
    }
    co_return co_await streams_.ask(std::move(resolver), std::move(question));
}

// What comes back truncated is to be asked for over a stream.
Task<dns::Reply> Upstreams::ask_by_datagram(Resolver resolver, dns::Question question) {
    // A socket for each question, with a port that the kernel chooses at random; being connected, it hears
    // from the resolver's address alone.
    const SocketAddress& server = resolver.address;
    AsyncFd socket{executor_, Fd{sys(::socket(server.family(), SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
                                     "open a socket to the resolver")}};
    sys(::connect(socket.get(), server.data(), server.size()), "reach the resolver");
    const SentQuestion sent{question};
    sys(::send(socket.get(), sent.bytes().data(), sent.bytes().size(), MSG_NOSIGNAL), "ask the resolver");
    for (int strays = 0; strays < kMaxStrays;) {
        std::array<char, 4096> buffer;
        const ssize_t n = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
        if (n < 0 && errno == EAGAIN) {
            co_await socket.readable();
            continue;
        }
        sys(n, "hear from the resolver");
        Result<dns::Reply> reply = dns::parse_reply({buffer.data(), static_cast<std::size_t>(n)});
        const Fit fit = reply ? sent.fit(*reply) : Fit::stranger;
        if (fit == Fit::exact) co_return *std::move(reply);
        // Whether forged or from a resolver that rewrites names, a stream tells the truth.
        if (fit == Fit::other_case) co_return dns::Reply{.truncated = true};
        ++strays;
    }
    throw Error{Errc::unavailable, Fault::upstream, "the resolver sent nothing that fits"};
}

}  // namespace oyat::egress
