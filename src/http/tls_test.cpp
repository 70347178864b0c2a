#include "http/tls.hpp"

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "base/throwing.hpp"
#include "http/client.hpp"
#include "http/loopback.hpp"
#include "io/race.hpp"
#include "io/run.hpp"
#include "io/task_group.hpp"

namespace oyat::http {
namespace {

using namespace std::chrono_literals;
using namespace testing;

struct Identity {
    std::string certificate;
    std::string key;
};

template <class Write>
std::string pem_of(Write write) {
    const std::unique_ptr<BIO, decltype(&::BIO_free)> bio{::BIO_new(::BIO_s_mem()), ::BIO_free};
    write(bio.get());
    char* data = nullptr;
    const long size = ::BIO_get_mem_data(bio.get(), &data);
    return {data, static_cast<std::size_t>(size)};
}

// A certificate for localhost that vouches for itself.
Identity make_identity() {
    const std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)> key{::EVP_EC_gen("P-256"), ::EVP_PKEY_free};
    const std::unique_ptr<X509, decltype(&::X509_free)> certificate{::X509_new(), ::X509_free};
    ::X509_set_version(certificate.get(), X509_VERSION_3);
    ::ASN1_INTEGER_set(::X509_get_serialNumber(certificate.get()), 1);
    ::X509_gmtime_adj(::X509_getm_notBefore(certificate.get()), -60);
    ::X509_gmtime_adj(::X509_getm_notAfter(certificate.get()), 3600);
    ::X509_set_pubkey(certificate.get(), key.get());
    ::X509_NAME* name = ::X509_get_subject_name(certificate.get());
    ::X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("test"), -1,
                                 -1, 0);
    ::X509_set_issuer_name(certificate.get(), name);
    X509_EXTENSION* names = ::X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "DNS:localhost");
    ::X509_add_ext(certificate.get(), names, -1);
    ::X509_EXTENSION_free(names);
    ::X509_sign(certificate.get(), key.get(), ::EVP_sha256());
    return {.certificate = pem_of([&](BIO* to) { ::PEM_write_bio_X509(to, certificate.get()); }),
            .key = pem_of([&](BIO* to) {
                ::PEM_write_bio_PrivateKey(to, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
            })};
}

Task<> echo(Exchange& exchange) {
    EXPECT_TRUE(exchange.request().tls);
    std::string body = co_await exchange.read_whole_body(8 << 20);
    co_await exchange.respond(200, {}, std::move(body));
}

Task<> ask_over_tls() {
    const Executor executor = co_await boost::asio::this_coro::executor;
    const Identity identity = make_identity();
    Server server{executor, echo};
    const std::uint16_t port = server.listen_tls("127.0.0.1", 0, identity.certificate, identity.key);
    TlsContext context = TlsContext::client(identity.certificate);
    {
        ClientConnection client{co_await tls_connect(context, co_await connect_loopback(port), "localhost")};
        for (const std::size_t size : {0ul, 5ul, 100'000ul, 5'000'000ul}) {
            ClientRequest request{
                .method = "POST", .fields = {{"Host", "localhost"}}, .body = std::string(size, 'x')};
            const ResponseHead head = co_await client.send(std::move(request));
            EXPECT_EQ(head.status, 200);
            EXPECT_EQ(co_await client.read_whole_body(8 << 20), std::string(size, 'x'));
        }
    }
    // Somebody who speaks no TLS, and names that the certificate is not for.
    EXPECT_FALSE(has(co_await exchange_raw(port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"), "HTTP/1.1"));
    EXPECT_THROW(co_await tls_connect(context, co_await connect_loopback(port), "other.example.org"), Error);
    TlsContext distrusting = TlsContext::client();
    EXPECT_THROW(co_await tls_connect(distrusting, co_await connect_loopback(port), "localhost"), Error);
    co_await server.close(1s);
}

TEST(Tls, CarriesRequestsOfAllSizes) {
    run(ask_over_tls());
}

Task<> leave_over_tls() {
    const Executor executor = co_await boost::asio::this_coro::executor;
    const Identity identity = make_identity();
    bool gone = false;
    Server server{executor, [&gone](Exchange& exchange) -> Task<> {
                      co_await exchange.start(200, {}, std::nullopt);
                      co_await exchange.write("x");
                      co_await exchange.client_gone();
                      gone = true;
                  }};
    const std::uint16_t port = server.listen_tls("127.0.0.1", 0, identity.certificate, identity.key);
    TlsContext context = TlsContext::client(identity.certificate);
    {
        auto stream = co_await tls_connect(context, co_await connect_loopback(port), "localhost");
        co_await stream->write_all("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        co_await read_until(*stream, "x\r\n");
    }
    while (server.connections() > 0) co_await yield_now();
    EXPECT_TRUE(gone);
    co_await server.close(1s);
}

TEST(Tls, NoticesAClientThatCloses) {
    run(leave_over_tls());
}

// What a server with a certificate for each name makes of a client that offers `protocols` and asks for
// `name`.
Task<TlsSession> meet(TlsContext& server, TlsContext& client, std::string name) {
    std::array<int, 2> ends{};
    sys(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), "socketpair");
    const Executor executor = co_await boost::asio::this_coro::executor;
    std::optional<std::unique_ptr<Stream>> met;  // stays: the server's tickets come after the handshake
    TaskGroup clients{executor};
    clients.spawn(store_in(met, tls_connect(client, make_stream(executor, Fd{ends[0]}), std::move(name))));
    TlsSession session = co_await tls_accept(server, make_stream(executor, Fd{ends[1]}));
    co_await clients.wait_idle();
    session.stream.reset();  // which must not outlive its loop
    co_return session;
}

struct Native {
    std::unique_ptr<X509, decltype(&::X509_free)> certificate{nullptr, ::X509_free};
    std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)> key{nullptr, ::EVP_PKEY_free};

    explicit Native(const Identity& identity) {
        const auto reading = [](const std::string& pem) {
            return std::unique_ptr<BIO, decltype(&::BIO_free)>{
                ::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), ::BIO_free};
        };
        certificate.reset(
            ::PEM_read_bio_X509(reading(identity.certificate).get(), nullptr, nullptr, nullptr));
        key.reset(::PEM_read_bio_PrivateKey(reading(identity.key).get(), nullptr, nullptr, nullptr));
    }
};

TEST(Tls, ChoosesTheCertificateByTheNameThatTheClientAsksFor) {
    const Identity identity = make_identity();
    const Native native{identity};
    TlsContext server = TlsContext::server(
        [&native](std::string_view name) -> std::optional<TlsIdentity> {
            if (name != "localhost") return std::nullopt;
            return TlsIdentity{.certificate = native.certificate.get(), .key = native.key.get()};
        },
        TlsProtocols::http1_and_http2);
    TlsContext client = TlsContext::client(identity.certificate);
    const TlsSession session = run(meet(server, client, "localhost"));
    EXPECT_EQ(session.server_name, "localhost");
    EXPECT_FALSE(session.http2);
    EXPECT_THROW(run(meet(server, client, "other.test")), Error);
}

TEST(Tls, SpeaksHttp2WithWhoOffersIt) {
    const Identity identity = make_identity();
    TlsContext both = TlsContext::server(identity.certificate, identity.key, TlsProtocols::http1_and_http2);
    TlsContext old = TlsContext::server(identity.certificate, identity.key);
    TlsContext client = TlsContext::client(identity.certificate);
    constexpr std::string_view kOffer = "\x08http/1.1\x02h2";
    ::SSL_CTX_set_alpn_protos(client.native(), reinterpret_cast<const unsigned char*>(kOffer.data()),
                              static_cast<unsigned>(kOffer.size()));
    EXPECT_TRUE(run(meet(both, client, "localhost")).http2);
    EXPECT_FALSE(run(meet(old, client, "localhost")).http2);
}

TEST(Tls, RefusesAKeyThatDoesNotFit) {
    EXPECT_THROW((void)TlsContext::server(make_identity().certificate, make_identity().key), Error);
    EXPECT_THROW((void)TlsContext::server("nonsense", "nonsense"), Error);
}

}  // namespace
}  // namespace oyat::http
