#include "egress/resolver_streams.hpp"

#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <span>

#include "io/connect.hpp"

namespace oyat::egress {
namespace {

constexpr std::size_t kMaxKept = 16;
constexpr Millis kKeepFor{10'000};
constexpr Millis kConnectLimit{10'000};  // the caller's limit is shorter

Error misbehaved(std::string what) {
    return Error{Errc::unavailable, Fault::upstream, std::move(what)};
}

Task<> read_exactly(Stream& stream, std::span<char> into) {
    while (!into.empty()) {
        const std::size_t n = co_await stream.read_some(into);
        if (n == 0) throw misbehaved("the resolver hung up");
        into = into.subspan(n);
    }
}

Task<dns::Reply> converse(Stream& stream, const dns::Question& question) {
    const SentQuestion sent{question};
    const std::string& body = sent.bytes();
    std::string message{static_cast<char>(body.size() >> 8), static_cast<char>(body.size() & 0xFF)};
    message += body;
    co_await stream.write_all(message);
    std::array<char, 2> size{};
    co_await read_exactly(stream, size);
    std::string bytes(static_cast<std::size_t>(static_cast<std::uint8_t>(size[0])) << 8 |
                          static_cast<std::uint8_t>(size[1]),
                      '\0');
    co_await read_exactly(stream, bytes);
    Result<dns::Reply> reply = dns::parse_reply(bytes);
    // A stream cannot be forged from aside, so a resolver that rewrites capitals is let do so.
    if (!reply || sent.fit(*reply) == SentQuestion::Fit::stranger) {
        throw misbehaved("the resolver sent nothing that fits");
    }
    if (reply->truncated) throw misbehaved("the resolver cut its answer on a stream");
    co_return *std::move(reply);
}

}  // namespace

http::TlsContext tls_for_resolvers(const std::string& authorities_pem) {
    http::TlsContext context = http::TlsContext::client(authorities_pem);
    if (!authorities_pem.empty()) ::SSL_CTX_set_default_verify_paths(context.native());
    // A resolver speaks but one protocol, so RFC 7858 has no name for it to be offered.
    ::SSL_CTX_set_alpn_protos(context.native(), nullptr, 0);
    return context;
}

ResolverStreams::ResolverStreams(Executor executor, std::optional<http::TlsContext> tls)
    : executor_{std::move(executor)}, tls_{std::move(tls)}, sweep_{executor_, [this] { kept_.clear(); }} {}

Task<dns::Reply> ResolverStreams::ask(Resolver resolver, dns::Question question) {
    if (std::unique_ptr<Stream> stream = take_kept(resolver)) {
        try {
            dns::Reply reply = co_await converse(*stream, question);
            keep(std::move(resolver), std::move(stream));
            co_return reply;
        } catch (const Error& error) {
            // The resolver may have closed it while nobody looked: a new one tells.
            if (error.code() == Errc::canceled) throw;
        }
    }
    std::unique_ptr<Stream> stream = co_await open(resolver);
    dns::Reply reply = co_await converse(*stream, question);
    keep(std::move(resolver), std::move(stream));
    co_return reply;
}

std::unique_ptr<Stream> ResolverStreams::take_kept(const Resolver& resolver) {
    const auto found = std::ranges::find_if(kept_, [&](const Kept& kept) {
        return kept.resolver.address == resolver.address && kept.resolver.transport == resolver.transport &&
               kept.resolver.name == resolver.name;
    });
    if (found == kept_.end()) return nullptr;
    std::unique_ptr<Stream> stream = std::move(found->stream);
    kept_.erase(found);
    return stream;
}

void ResolverStreams::keep(Resolver resolver, std::unique_ptr<Stream> stream) {
    if (kept_.size() >= kMaxKept) return;
    kept_.push_back({std::move(resolver), std::move(stream)});
    if (!sweep_.armed()) sweep_.arm(kKeepFor);
}

Task<std::unique_ptr<Stream>> ResolverStreams::open(Resolver resolver) {
    Fd socket = co_await connect(resolver.address, kConnectLimit);
    std::unique_ptr<Stream> stream = make_stream(executor_, std::move(socket));
    if (resolver.is_tls()) {
        stream = co_await http::tls_connect(tls_.value(), std::move(stream), resolver.name);
    }
    co_return stream;
}

}  // namespace oyat::egress
