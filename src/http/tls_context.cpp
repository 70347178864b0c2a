#include <openssl/err.h>
#include <openssl/pem.h>

#include <array>
#include <string>

#include "base/log.hpp"
#include "http/tls.hpp"
#include "http/tls_native.hpp"

// Certificates and rules, before any connection.
namespace oyat::http {

using namespace native;

Error native::tls_error(Errc code, std::string_view what) {
    std::array<char, 256> reason{};
    const unsigned long number = ::ERR_get_error();
    ::ERR_error_string_n(number, reason.data(), reason.size());
    ::ERR_clear_error();
    return Error{code, std::string{what} + ": " + (number != 0 ? reason.data() : "connection ended")};
}

std::string_view native::server_name(const SSL* ssl) {
    const char* name = ::SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    return name != nullptr ? std::string_view{name} : std::string_view{};
}

namespace {

Owned<BIO> reading(const std::string& pem) {
    return Owned<BIO>{::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))};
}

int choose_protocol(const std::string_view& supported, const unsigned char** chosen, unsigned char* length,
                    const unsigned char* offered, unsigned offered_length) {
    unsigned char* found = nullptr;
    if (::SSL_select_next_proto(&found, length, bytes_of(supported), static_cast<unsigned>(supported.size()),
                                offered, offered_length) != OPENSSL_NPN_NEGOTIATED) {
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    }
    *chosen = found;
    return SSL_TLSEXT_ERR_OK;
}

void offer(SSL_CTX* context, TlsProtocols protocols) {
    const std::string_view& supported = protocols == TlsProtocols::http1 ? kHttp11 : kHttp2AndHttp11;
    ::SSL_CTX_set_alpn_select_cb(
        context,
        [](SSL*, const unsigned char** chosen, unsigned char* length, const unsigned char* offered,
           unsigned offered_length, void* given) {
            return choose_protocol(*static_cast<const std::string_view*>(given), chosen, length, offered,
                                   offered_length);
        },
        const_cast<std::string_view*>(&supported));
}

// OpenSSL's callback for "which certificate": 1 goes on, 0 ends the handshake with an alert.
int use_chosen_identity(SSL* ssl, void* given) {
    // No exception may pass through OpenSSL's frames.
    try {
        const std::optional<TlsIdentity> identity = (*static_cast<ChooseIdentity*>(given))(server_name(ssl));
        if (!identity) return 0;
        return ::SSL_use_certificate(ssl, identity->certificate) == 1 &&
               ::SSL_use_PrivateKey(ssl, identity->key) == 1;
    } catch (const std::exception& e) {
        log::warn("no certificate for a TLS connection", {{"why", e.what()}});
        return 0;
    }
}

SSL_CTX* new_context(const SSL_METHOD* method) {
    SSL_CTX* context = ::SSL_CTX_new(method);
    if (context == nullptr) throw tls_error(Errc::internal, "TLS");
    ::SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    ::SSL_CTX_set_options(context,
                          SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF);
    // An idle connection keeps no record buffers.
    ::SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE);
    return context;
}

SSL_CTX* new_client_context() {
    SSL_CTX* context = new_context(::TLS_client_method());
    ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    ::SSL_CTX_set_alpn_protos(context, bytes_of(kHttp11), static_cast<unsigned>(kHttp11.size()));
    return context;
}

void trust(SSL_CTX* context, const std::string& authorities_pem) {
    X509_STORE* store = ::SSL_CTX_get_cert_store(context);
    const Owned<BIO> certificates = reading(authorities_pem);
    while (Owned<X509> next{::PEM_read_bio_X509(certificates.get(), nullptr, nullptr, nullptr)}) {
        if (::X509_STORE_add_cert(store, next.get()) != 1)
            throw tls_error(Errc::invalid_argument, "TLS authorities");
    }
    ::ERR_clear_error();  // the end of the list counts as an error there
}

}  // namespace

void TlsContext::Free::operator()(ssl_ctx_st* context) const noexcept {
    ::SSL_CTX_free(context);
}

TlsContext TlsContext::server(const std::string& certificate_pem, const std::string& key_pem,
                              TlsProtocols protocols) {
    TlsContext context{new_context(::TLS_server_method())};
    const auto require = [](bool fine, std::string_view what) {
        if (!fine) throw tls_error(Errc::invalid_argument, what);
    };
    const Owned<BIO> certificates = reading(certificate_pem);
    const Owned<X509> certificate{::PEM_read_bio_X509(certificates.get(), nullptr, nullptr, nullptr)};
    require(certificate && ::SSL_CTX_use_certificate(context.native(), certificate.get()) == 1,
            "TLS certificate");
    while (Owned<X509> next{::PEM_read_bio_X509(certificates.get(), nullptr, nullptr, nullptr)}) {
        require(::SSL_CTX_add1_chain_cert(context.native(), next.get()) == 1, "TLS certificate chain");
    }
    ::ERR_clear_error();  // the end of the chain counts as an error there
    const Owned<EVP_PKEY> key{::PEM_read_bio_PrivateKey(reading(key_pem).get(), nullptr, nullptr, nullptr)};
    require(key && ::SSL_CTX_use_PrivateKey(context.native(), key.get()) == 1, "TLS key");
    require(::SSL_CTX_check_private_key(context.native()) == 1, "TLS key and certificate");
    offer(context.native(), protocols);
    return context;
}

TlsContext TlsContext::server(ChooseIdentity choose, TlsProtocols protocols) {
    TlsContext context{new_context(::TLS_server_method())};
    context.choose_ = std::make_unique<ChooseIdentity>(std::move(choose));
    ::SSL_CTX_set_cert_cb(context.native(), use_chosen_identity, context.choose_.get());
    offer(context.native(), protocols);
    return context;
}

TlsContext TlsContext::client(const std::string& authorities_pem) {
    TlsContext context{new_client_context()};
    if (authorities_pem.empty()) {
        ::SSL_CTX_set_default_verify_paths(context.native());
    } else {
        trust(context.native(), authorities_pem);
    }
    return context;
}

TlsContext TlsContext::client_trusting_also(const std::string& more_authorities_pem) {
    TlsContext context{new_client_context()};
    ::SSL_CTX_set_default_verify_paths(context.native());
    trust(context.native(), more_authorities_pem);
    return context;
}

TlsContext TlsContext::client_trusting_anybody() {
    TlsContext context{new_client_context()};
    ::SSL_CTX_set_verify(context.native(), SSL_VERIFY_NONE, nullptr);
    return context;
}

}  // namespace oyat::http
