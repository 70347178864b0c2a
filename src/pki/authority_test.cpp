#include "pki/authority.hpp"

#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>

#include "base/throwing.hpp"
#include "pki/pem.hpp"

namespace oyat::pki {
namespace {

using namespace std::chrono_literals;

Authority authority(std::vector<std::string> only_for = {}) {
    return Authority::make({.name = "test authority", .only_for = std::move(only_for)});
}

// What a client that trusts only this authority thinks of the certificate when it wanted to talk to `host`.
std::string verdict(const Authority& trusted, X509* certificate, const std::string& host) {
    const std::unique_ptr<X509_STORE, decltype(&::X509_STORE_free)> store{::X509_STORE_new(),
                                                                          ::X509_STORE_free};
    ::X509_STORE_add_cert(store.get(), trusted.certificate());
    const std::unique_ptr<X509_STORE_CTX, decltype(&::X509_STORE_CTX_free)> context{::X509_STORE_CTX_new(),
                                                                                    ::X509_STORE_CTX_free};
    ::X509_STORE_CTX_init(context.get(), store.get(), certificate, nullptr);
    ::X509_STORE_CTX_set_purpose(context.get(), X509_PURPOSE_SSL_SERVER);
    X509_VERIFY_PARAM* wanted = ::X509_STORE_CTX_get0_param(context.get());
    // The strict reading refuses what modern clients refuse, such as a missing key identifier.
    ::X509_VERIFY_PARAM_set_flags(wanted, X509_V_FLAG_X509_STRICT);
    if (::X509_VERIFY_PARAM_set1_ip_asc(wanted, host.c_str()) != 1) {
        ::X509_VERIFY_PARAM_set1_host(wanted, host.c_str(), host.size());
    }
    ::X509_verify_cert(context.get());
    ::ERR_clear_error();
    return ::X509_verify_cert_error_string(::X509_STORE_CTX_get_error(context.get()));
}

TEST(Authority, ClientsThatTrustItTrustItsCertificatesForTheirNames) {
    const Authority own = authority();
    const Leaf leaf = own.issue({"oyat.test", "*.oyat.test", "127.0.0.1", "::1"}, 24h);
    for (const char* host : {"oyat.test", "api.oyat.test", "127.0.0.1", "::1"}) {
        EXPECT_EQ(verdict(own, leaf.certificate.get(), host), "ok") << host;
    }
    EXPECT_EQ(verdict(own, leaf.certificate.get(), "other.test"), "hostname mismatch");
    EXPECT_EQ(verdict(own, leaf.certificate.get(), "a.b.oyat.test"), "hostname mismatch");
    EXPECT_EQ(verdict(own, leaf.certificate.get(), "127.0.0.2"), "IP address mismatch");
}

TEST(Authority, AnotherOneOfTheSameNameIsNotTrusted) {
    const Leaf leaf = authority().issue({"oyat.test"}, 24h);
    EXPECT_NE(verdict(authority(), leaf.certificate.get(), "oyat.test"), "ok");
}

TEST(Authority, VouchesOnlyForTheDomainsThatItWasMadeFor) {
    const Authority own = authority({"oyat.test"});
    EXPECT_EQ(verdict(own, own.issue({"*.oyat.test"}, 24h).certificate.get(), "api.oyat.test"), "ok");
    EXPECT_EQ(verdict(own, own.issue({"bank.example"}, 24h).certificate.get(), "bank.example"),
              "permitted subtree violation");
    EXPECT_EQ(verdict(own, own.issue({"127.0.0.1"}, 24h).certificate.get(), "127.0.0.1"),
              "excluded subtree violation");
    EXPECT_THROW((void)authority({"a domain"}), Error);
}

TEST(Authority, KnowsWhatItsClientsWillTake) {
    const Authority own = authority({"oyat.test"});
    const Leaf leaf = own.issue({"*.oyat.test"}, 24h);
    EXPECT_TRUE(own.vouches_for(leaf.certificate.get(), "api.oyat.test"));
    EXPECT_FALSE(own.vouches_for(leaf.certificate.get(), "oyat.test"));
    EXPECT_FALSE(own.vouches_for(own.issue({"bank.example"}, 24h).certificate.get(), "bank.example"));
    EXPECT_FALSE(authority().vouches_for(leaf.certificate.get(), "api.oyat.test"));
}

TEST(Authority, LivesOnAsText) {
    const Authority first = authority();
    const Authority again = Authority::load(first.certificate_pem(), first.key_pem());
    EXPECT_EQ(verdict(first, again.issue({"oyat.test"}, 1h).certificate.get(), "oyat.test"), "ok");
}

TEST(Authority, ACertificateOfAServerOrAForeignKeyIsNoAuthority) {
    const Authority own = authority();
    const Leaf leaf = own.issue({"oyat.test"}, 1h);
    EXPECT_THROW((void)Authority::load(to_pem(leaf.certificate.get()), to_pem(leaf.key.get())), Error);
    EXPECT_THROW((void)Authority::load(own.certificate_pem(), to_pem(leaf.key.get())), Error);
    EXPECT_THROW((void)Authority::load("", own.key_pem()), Error);
    EXPECT_THROW((void)Authority::load(own.certificate_pem(), "-----BEGIN PRIVATE KEY-----\n"), Error);
}

TEST(Authority, NoCertificateOutlivesIt) {
    const Authority own = Authority::make({.name = "short", .lifetime = 1h});
    const Leaf leaf = own.issue({"oyat.test"}, 48h);
    EXPECT_EQ(::ASN1_TIME_compare(::X509_get0_notAfter(leaf.certificate.get()),
                                  ::X509_get0_notAfter(own.certificate())),
              0);
}

TEST(Authority, EachCertificateHasANumberAndAKeyOfItsOwn) {
    const Authority own = authority();
    const Leaf one = own.issue({"oyat.test"}, 1h);
    const Leaf other = own.issue({"oyat.test"}, 1h);
    EXPECT_NE(::ASN1_INTEGER_cmp(::X509_get0_serialNumber(one.certificate.get()),
                                 ::X509_get0_serialNumber(other.certificate.get())),
              0);
    EXPECT_NE(to_pem(one.key.get()), to_pem(other.key.get()));
}

TEST(Authority, ANameTooLongForASubjectStillGetsACertificate) {
    const Authority own = authority();
    const std::string label(60, 'a');
    const std::string host = label + "." + label + ".test";
    EXPECT_EQ(verdict(own, own.issue({host}, 1h).certificate.get(), host), "ok");
}

TEST(Authority, RefusesWhatIsNoName) {
    const Authority own = authority();
    EXPECT_THROW((void)own.issue({}, 1h), Error);
    // The last two would add names of their own to OpenSSL's list of them.
    for (const char* name : {"", ".", "a..b", "UPPER.test", "*", "*.", "a*.test", "*.*.test", "a b", "a/b",
                             "a.test,DNS:b.test", "a.test\nDNS:b.test"}) {
        EXPECT_THROW((void)own.issue({name}, 1h), Error) << name;
    }
    EXPECT_THROW((void)own.issue({std::string(64, 'a') + ".test"}, 1h), Error);
    EXPECT_THROW((void)own.issue({std::string("a.test\0b", 8)}, 1h), Error);
}

}  // namespace
}  // namespace oyat::pki
