#include "pki/authority.hpp"

#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <ctime>
#include <utility>

#include "base/throwing.hpp"
#include "pki/names.hpp"
#include "pki/pem.hpp"

namespace oyat::pki {
namespace {

constexpr long kClockSkew = 3600;           // a client's clock may be behind
constexpr std::size_t kMaxCommonName = 64;  // ub-common-name

void require(bool fine, std::string_view what) {
    if (!fine) throw openssl_error(Errc::internal, what);
}

void set_random_serial(X509* certificate) {
    const std::unique_ptr<BIGNUM, decltype(&::BN_free)> number{::BN_new(), ::BN_free};
    // Positive and at most 20 bytes (RFC 5280, 4.1.2.2); 127 random bits never meet again.
    require(number && ::BN_rand(number.get(), 127, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
                ::BN_to_ASN1_INTEGER(number.get(), ::X509_get_serialNumber(certificate)) != nullptr,
            "number a certificate");
}

void set_common_name(X509* certificate, const std::string& name) {
    X509_NAME* subject = ::X509_get_subject_name(certificate);
    require(::X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_UTF8,
                                         reinterpret_cast<const unsigned char*>(name.data()),
                                         static_cast<int>(name.size()), -1, 0) == 1,
            "name a certificate");
}

void add_extension(X509* certificate, X509* issuer, int kind, const std::string& value) {
    X509V3_CTX context{};
    ::X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    X509_EXTENSION* extension = ::X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
    require(extension != nullptr, "extend a certificate");
    const int added = ::X509_add_ext(certificate, extension, -1);
    ::X509_EXTENSION_free(extension);
    require(added == 1, "extend a certificate");
}

Certificate blank(EVP_PKEY* key, std::chrono::seconds lifetime) {
    Certificate certificate{::X509_new()};
    require(certificate && ::X509_set_version(certificate.get(), X509_VERSION_3) == 1 &&
                ::X509_set_pubkey(certificate.get(), key) == 1 &&
                ::X509_gmtime_adj(::X509_getm_notBefore(certificate.get()), -kClockSkew) != nullptr &&
                ::X509_gmtime_adj(::X509_getm_notAfter(certificate.get()), lifetime.count()) != nullptr,
            "make a certificate");
    set_random_serial(certificate.get());
    return certificate;
}

void sign(X509* certificate, EVP_PKEY* key) {
    require(::X509_sign(certificate, key, ::EVP_sha256()) > 0, "sign a certificate");
}

std::string constraints(const std::vector<std::string>& domains) {
    std::string value = "critical";
    for (const std::string& domain : domains) {
        if (!is_host_name(domain)) {
            throw Error{Errc::invalid_argument, "'" + domain + "' is not a lower-case domain name"};
        }
        value.append(",permitted;DNS:").append(domain);
    }
    // Permitting names says nothing about addresses.
    return value.append(",excluded;IP:0.0.0.0/0.0.0.0,excluded;IP:::/::");
}

}  // namespace

Authority Authority::make(const AuthorityOptions& options) {
    if (options.name.empty() || options.name.size() > kMaxCommonName) {
        throw Error{Errc::invalid_argument, "an authority's name has 1 to 64 bytes"};
    }
    Key key = make_key();
    Certificate certificate = blank(key.get(), options.lifetime);
    X509* const own = certificate.get();
    set_common_name(own, options.name);
    require(::X509_set_issuer_name(own, ::X509_get_subject_name(own)) == 1, "name a certificate");
    add_extension(own, own, NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
    add_extension(own, own, NID_key_usage, "critical,keyCertSign,cRLSign");
    add_extension(own, own, NID_subject_key_identifier, "hash");
    if (!options.only_for.empty()) {
        add_extension(own, own, NID_name_constraints, constraints(options.only_for));
    }
    sign(own, key.get());
    return Authority{std::move(certificate), std::move(key)};
}

Authority Authority::load(const std::string& certificate_pem, const std::string& key_pem) {
    Certificate certificate = or_throw(certificate_from_pem(certificate_pem));
    Key key = or_throw(key_from_pem(key_pem));
    if (::X509_check_private_key(certificate.get(), key.get()) != 1) {
        throw openssl_error(Errc::invalid_argument, "the key is not that of the authority's certificate");
    }
    if (::X509_check_ca(certificate.get()) != 1) {
        throw Error{Errc::invalid_argument, "the certificate is not an authority's"};
    }
    return Authority{std::move(certificate), std::move(key)};
}

Leaf Authority::issue(const std::vector<std::string>& names, std::chrono::hours lifetime) const {
    const std::string alternatives = or_throw(alternative_names(names));
    Leaf leaf{.certificate = nullptr, .key = make_key()};
    leaf.certificate = blank(leaf.key.get(), lifetime);
    X509* const own = leaf.certificate.get();
    X509* const issuer = certificate_.get();
    if (::ASN1_TIME_compare(::X509_get0_notAfter(own), ::X509_get0_notAfter(issuer)) > 0) {
        require(::X509_set1_notAfter(own, ::X509_get0_notAfter(issuer)) == 1, "make a certificate");
    }
    // Without a subject the names are the only identity there is, and then they must be critical (4.2.1.6).
    const bool has_subject = names.front().size() <= kMaxCommonName;
    if (has_subject) set_common_name(own, names.front());
    require(::X509_set_issuer_name(own, ::X509_get_subject_name(issuer)) == 1, "name a certificate");
    add_extension(own, issuer, NID_basic_constraints, "critical,CA:FALSE");
    add_extension(own, issuer, NID_key_usage, "critical,digitalSignature");
    add_extension(own, issuer, NID_ext_key_usage, "serverAuth");
    add_extension(own, issuer, NID_subject_key_identifier, "hash");
    add_extension(own, issuer, NID_authority_key_identifier, "keyid");
    add_extension(own, issuer, NID_subject_alt_name, (has_subject ? "" : "critical,") + alternatives);
    sign(own, key_.get());
    return leaf;
}

bool Authority::vouches_for(X509* certificate, const std::string& host) const {
    const std::unique_ptr<X509_STORE, decltype(&::X509_STORE_free)> store{::X509_STORE_new(),
                                                                          ::X509_STORE_free};
    const std::unique_ptr<X509_STORE_CTX, decltype(&::X509_STORE_CTX_free)> context{::X509_STORE_CTX_new(),
                                                                                    ::X509_STORE_CTX_free};
    require(store && context && ::X509_STORE_add_cert(store.get(), certificate_.get()) == 1 &&
                ::X509_STORE_CTX_init(context.get(), store.get(), certificate, nullptr) == 1 &&
                ::X509_STORE_CTX_set_purpose(context.get(), X509_PURPOSE_SSL_SERVER) == 1,
            "verify a certificate");
    X509_VERIFY_PARAM* wanted = ::X509_STORE_CTX_get0_param(context.get());
    if (is_ip_address(host)) {
        ::X509_VERIFY_PARAM_set1_ip_asc(wanted, host.c_str());
    } else {
        ::X509_VERIFY_PARAM_set1_host(wanted, host.c_str(), host.size());
    }
    const bool fine = ::X509_verify_cert(context.get()) == 1;
    ::ERR_clear_error();
    return fine;
}

std::string Authority::certificate_pem() const {
    return to_pem(certificate_.get());
}

std::string Authority::key_pem() const {
    return to_pem(key_.get());
}

}  // namespace oyat::pki
