#include "http/tls.hpp"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/defer.hpp"
#include "base/error.hpp"
#include "http/tls_native.hpp"
#include "io/condition.hpp"

namespace oyat::http {

using namespace native;

namespace {

constexpr std::size_t kRecordRead = 16 * 1024 + 512;  // one whole record and its header
constexpr std::size_t kFlushAt = 128 * 1024;

// An alert by which a client says that it does not trust the server's certificate (RFC 8446, 6.2).
bool says_distrust(unsigned long number) {
    if (ERR_GET_LIB(number) != ERR_LIB_SSL) return false;
    switch (ERR_GET_REASON(number)) {
        case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
        case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
        case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
        case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
        case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
        case SSL_R_TLSV1_ALERT_UNKNOWN_CA: return true;
        default: return false;
    }
}

Error handshake_error(const SSL* ssl) {
    const long verified = ::SSL_get_verify_result(ssl);
    if (verified != X509_V_OK) {
        ::ERR_clear_error();
        return Error{
            Errc::unavailable, Fault::upstream,
            std::string{"the server's certificate is refused: "} + ::X509_verify_cert_error_string(verified)};
    }
    const bool distrusted = ::SSL_is_server(ssl) == 1 && says_distrust(::ERR_peek_error());
    return tls_error(distrusted ? Errc::denied : Errc::unavailable, "TLS handshake");
}

// As ALPN has said.
bool speaks_http2(const SSL* ssl) {
    const unsigned char* protocol = nullptr;
    unsigned length = 0;
    ::SSL_get0_alpn_selected(ssl, &protocol, &length);
    return length == 2;  // "h2"; the other that we know is longer
}

// TLS over any stream. OpenSSL never touches a socket: it takes bytes that came from `input_` and leaves
// bytes to be sent in `output_`.
class TlsStream final : public Stream {
public:
    TlsStream(TlsContext& context, std::unique_ptr<Stream> stream)
        : stream_{std::move(stream)}, ssl_{::SSL_new(context.native())} {
        static const Owned<BIO_METHOD> kMethod = make_method();
        BIO* bio = ::BIO_new(kMethod.get());
        if (!ssl_ || bio == nullptr) throw tls_error(Errc::exhausted, "TLS");
        ::BIO_set_data(bio, this);
        ::BIO_set_init(bio, 1);
        ::SSL_set_bio(ssl_.get(), bio, bio);
    }

    [[nodiscard]] SSL* ssl() const { return ssl_.get(); }

    Task<> handshake() {
        for (;;) {
            ::ERR_clear_error();
            const int result = ::SSL_do_handshake(ssl_.get());
            std::optional<Error> failure;
            if (result != 1 && ::SSL_get_error(ssl_.get(), result) != SSL_ERROR_WANT_READ) {
                failure = handshake_error(ssl_.get());
            }
            co_await flush();  // also the alert that tells the peer why
            if (result == 1) co_return;
            if (failure) throw Error{*failure};
            if (!co_await fill()) throw Error{Errc::unavailable, "TLS handshake: connection ended"};
        }
    }

    Task<std::size_t> read_some(std::span<char> into) override {
        for (;;) {
            ::ERR_clear_error();
            std::size_t got = 0;
            const int result = ::SSL_read_ex(ssl_.get(), into.data(), into.size(), &got);
            if (result == 1) co_return got;
            switch (::SSL_get_error(ssl_.get(), result)) {
                case SSL_ERROR_WANT_READ: break;
                case SSL_ERROR_ZERO_RETURN: co_return 0;
                default: throw tls_error(Errc::unavailable, "TLS read");
            }
            // The answer to a key update. Who is sending sends it too: waiting for them here, each of two
            // peers that both send much would wait for the other to read.
            if (!flushing_) co_await flush();
            if (!co_await fill()) co_return 0;
        }
    }

    Task<> write_all(std::string_view bytes) override {
        while (!bytes.empty()) {
            ::ERR_clear_error();
            std::size_t taken = 0;
            if (::SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &taken) != 1) {
                throw tls_error(Errc::unavailable, "TLS write");
            }
            bytes.remove_prefix(taken);
            if (bytes.empty() || output_.size() >= kFlushAt) co_await flush();
        }
    }

    Task<> write_parts(std::span<const std::string_view> parts) override {
        // Small pieces share a record: a head and a few bytes of body must not become two packets.
        std::string joined;
        for (const std::string_view part : parts) {
            if (joined.size() + part.size() <= kRecordRead) {
                joined.append(part);
                continue;
            }
            co_await write_all(joined);
            joined.clear();
            co_await write_all(part);
        }
        co_await write_all(joined);
    }

    void shutdown_read() override { stream_->shutdown_read(); }

    void shutdown_write() override {
        ::SSL_shutdown(ssl_.get());
        // The peer's farewell is a courtesy: sent if there is room for it now.
        if (!flushing_ && stream_->native_fd() >= 0) {
            (void)::send(stream_->native_fd(), output_.data(), output_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        }
        output_.clear();
        stream_->shutdown_write();
    }

    void close() override { stream_->close(); }

private:
    static Owned<BIO_METHOD> make_method() {
        Owned<BIO_METHOD> method{::BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "stream")};
        ::BIO_meth_set_read(method.get(), [](BIO* bio, char* into, int size) {
            return static_cast<TlsStream*>(::BIO_get_data(bio))->take_input(bio, into, size);
        });
        ::BIO_meth_set_write(method.get(), [](BIO* bio, const char* bytes, int size) {
            static_cast<TlsStream*>(::BIO_get_data(bio))
                ->output_.append(bytes, static_cast<std::size_t>(size));
            return size;
        });
        ::BIO_meth_set_ctrl(method.get(), [](BIO*, int command, long, void*) -> long {
            return command == BIO_CTRL_FLUSH ? 1 : 0;
        });
        return method;
    }

    int take_input(BIO* bio, char* into, int size) {
        ::BIO_clear_retry_flags(bio);
        const std::size_t count = std::min(input_size_ - input_begin_, static_cast<std::size_t>(size));
        if (count == 0) {
            ::BIO_set_retry_read(bio);
            return -1;
        }
        std::memcpy(into, input_.get() + input_begin_, count);
        input_begin_ += count;
        return static_cast<int>(count);
    }

    // Reads from the stream into input_, which OpenSSL has used up. False at the end of the stream.
    Task<bool> fill() {
        if (!input_) input_ = std::make_unique_for_overwrite<char[]>(kRecordRead);
        input_begin_ = input_size_ = 0;
        input_size_ = co_await stream_->read_some({input_.get(), kRecordRead});
        co_return input_size_ > 0;
    }

    // The reader may have something to send too; what was encrypted first is sent first. Returns when all is
    // sent.
    Task<> flush() {
        while (flushing_) co_await flushed_.wait();
        flushing_ = true;
        const Defer done{[this] {
            flushing_ = false;
            flushed_.notify_one();
        }};
        while (!output_.empty()) {
            const std::string now = std::exchange(output_, {});
            co_await stream_->write_all(now);
        }
    }

    std::unique_ptr<Stream> stream_;
    Owned<SSL> ssl_;
    std::unique_ptr<char[]> input_;
    std::size_t input_begin_ = 0;
    std::size_t input_size_ = 0;
    std::string output_;
    bool flushing_ = false;
    Condition flushed_;
};

bool is_ip(const std::string& host) {
    in6_addr unused{};
    return ::inet_pton(AF_INET, host.c_str(), &unused) == 1 ||
           ::inet_pton(AF_INET6, host.c_str(), &unused) == 1;
}

}  // namespace

Task<TlsSession> tls_accept(TlsContext& context, std::unique_ptr<Stream> stream) {
    auto tls = std::make_unique<TlsStream>(context, std::move(stream));
    ::SSL_set_accept_state(tls->ssl());
    co_await tls->handshake();
    TlsSession session;
    session.http2 = speaks_http2(tls->ssl());
    session.server_name = server_name(tls->ssl());
    session.stream = std::move(tls);
    co_return session;
}

Task<std::unique_ptr<Stream>> tls_connect(TlsContext& context, std::unique_ptr<Stream> stream,
                                          std::string host) {
    TlsSession session =
        co_await tls_connect(context, std::move(stream), std::move(host), TlsProtocols::http1);
    co_return std::move(session.stream);
}

Task<TlsSession> tls_connect(TlsContext& context, std::unique_ptr<Stream> stream, std::string host,
                             TlsProtocols offered) {
    auto tls = std::make_unique<TlsStream>(context, std::move(stream));
    ::SSL_set_connect_state(tls->ssl());
    if (is_ip(host)) {
        ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(tls->ssl()), host.c_str());
    } else {
        ::SSL_set_tlsext_host_name(tls->ssl(), host.c_str());
        ::SSL_set1_host(tls->ssl(), host.c_str());
    }
    if (offered == TlsProtocols::http1_and_http2) {
        ::SSL_set_alpn_protos(tls->ssl(), bytes_of(kHttp2AndHttp11),
                              static_cast<unsigned>(kHttp2AndHttp11.size()));
    }
    co_await tls->handshake();
    TlsSession session;
    session.http2 = speaks_http2(tls->ssl());
    session.stream = std::move(tls);
    co_return session;
}

}  // namespace oyat::http
