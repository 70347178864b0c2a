#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "egress/resolver.hpp"
#include "egress/sent_question.hpp"
#include "http/tls.hpp"
#include "io/stream.hpp"
#include "io/timer.hpp"

namespace oyat::egress {

// Trusts these authorities beside the machine's own. Reads all of the latter: tens of milliseconds.
[[nodiscard]] http::TlsContext tls_for_resolvers(const std::string& authorities_pem);

// Questions to resolvers over TCP and TLS. A connection carries one question at a time and is then kept a
// while for the next (RFC 7766, 6.2.1), so that a TLS handshake is not the price of every name.
class ResolverStreams {
public:
    // `tls` says whom to trust; without it no resolver is asked over TLS.
    ResolverStreams(Executor executor, std::optional<http::TlsContext> tls);

    // No time limit of its own: the caller sets one. Throws Error{unavailable, Fault::upstream}.
    Task<dns::Reply> ask(Resolver resolver, dns::Question question);

private:
    struct Kept {
        Resolver resolver;
        std::unique_ptr<Stream> stream;
    };
    [[nodiscard]] std::unique_ptr<Stream> take_kept(const Resolver& resolver);
    void keep(Resolver resolver, std::unique_ptr<Stream> stream);
    Task<std::unique_ptr<Stream>> open(Resolver resolver);

    Executor executor_;
    std::optional<http::TlsContext> tls_;
    std::vector<Kept> kept_;
    Timer sweep_;
};

}  // namespace oyat::egress
