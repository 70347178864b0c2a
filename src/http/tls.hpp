#pragma once

#include <memory>
#include <string>

#include "io/stream.hpp"
#include "io/task.hpp"

struct ssl_ctx_st;

namespace oyat::http {

// Certificates and rules for the connections of one listener, or for those that we make. TLS 1.2 and 1.3.
class TlsContext {
public:
    // `certificate_pem` may hold the chain behind the certificate. Throws Error when the two don't fit.
    static TlsContext server(const std::string& certificate_pem, const std::string& key_pem);
    // Trusts the machine's certificate authorities, or only those in `authorities_pem` when it is not empty.
    static TlsContext client(const std::string& authorities_pem = {});

    [[nodiscard]] ssl_ctx_st* native() const noexcept { return context_.get(); }

private:
    struct Free {
        void operator()(ssl_ctx_st* context) const noexcept;
    };
    explicit TlsContext(ssl_ctx_st* context) : context_{context} {}

    std::unique_ptr<ssl_ctx_st, Free> context_;
};

// Speak TLS over a stream; http/1.1 is the only protocol offered and taken. Throw Error{unavailable} when the
// handshake fails.
Task<std::unique_ptr<Stream>> tls_accept(TlsContext& context, std::unique_ptr<Stream> stream);
// The server's certificate must be for `host`.
Task<std::unique_ptr<Stream>> tls_connect(TlsContext& context, std::unique_ptr<Stream> stream,
                                          std::string host);

}  // namespace oyat::http
