#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "io/stream.hpp"
#include "io/task.hpp"

struct evp_pkey_st;
struct ssl_ctx_st;
struct x509_st;

namespace oyat::http {

// What a server shows of itself, borrowed from its owner for the time of a call.
struct TlsIdentity {
    x509_st* certificate = nullptr;
    evp_pkey_st* key = nullptr;
};
// The identity for the host that a client asked for by SNI, "" when it named none; nothing ends the
// handshake. The name is as hostile as everything else from a client.
using ChooseIdentity = std::function<std::optional<TlsIdentity>(std::string_view server_name)>;

// What a server offers by ALPN. A client that offers nothing gets HTTP/1.1.
enum class TlsProtocols { http1, http1_and_http2 };

// Certificates and rules for the connections of one listener, or for those that we make. TLS 1.2 and 1.3.
class TlsContext {
public:
    // `certificate_pem` may hold the chain behind the certificate. Throws Error when the two don't fit.
    static TlsContext server(const std::string& certificate_pem, const std::string& key_pem,
                             TlsProtocols protocols = TlsProtocols::http1);
    // A certificate for each connection. The choice is made on the loop, inside the handshake.
    static TlsContext server(ChooseIdentity choose, TlsProtocols protocols);
    // Trusts the machine's certificate authorities, or only those in `authorities_pem` when it is not empty.
    static TlsContext client(const std::string& authorities_pem = {});
    // Trusts the machine's certificate authorities and those in `more_authorities_pem`.
    static TlsContext client_trusting_also(const std::string& more_authorities_pem);
    // Takes any certificate: for servers that are known by the way to them, such as a port of a sandbox.
    static TlsContext client_trusting_anybody();

    [[nodiscard]] ssl_ctx_st* native() const noexcept { return context_.get(); }

private:
    struct Free {
        void operator()(ssl_ctx_st* context) const noexcept;
    };
    explicit TlsContext(ssl_ctx_st* context) : context_{context} {}

    std::unique_ptr<ssl_ctx_st, Free> context_;
    std::unique_ptr<ChooseIdentity> choose_;  // where OpenSSL finds it, also after a move
};

// A connection after its handshake.
struct TlsSession {
    std::unique_ptr<Stream> stream;
    bool http2 = false;       // as agreed by ALPN
    std::string server_name;  // the SNI, as sent; "" for none
};

// Speak TLS over a stream. Throw Error{unavailable} when the handshake fails; for a certificate of the server
// that is refused its message says why. Throws Error{denied} when the client does not trust our certificate.
Task<TlsSession> tls_accept(TlsContext& context, std::unique_ptr<Stream> stream);
// Offers and takes http/1.1 only unless more is said. The server's certificate must be for `host`.
Task<std::unique_ptr<Stream>> tls_connect(TlsContext& context, std::unique_ptr<Stream> stream,
                                          std::string host);
Task<TlsSession> tls_connect(TlsContext& context, std::unique_ptr<Stream> stream, std::string host,
                             TlsProtocols offered);

}  // namespace oyat::http
