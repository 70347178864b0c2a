#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "pki/native.hpp"

namespace oyat::pki {

struct AuthorityOptions {
    std::string name;  // what a person reads in a list of authorities
    std::chrono::hours lifetime{24 * 3650};
    // When not empty, certificates for anything but these domains and what is below them, and for any IP
    // address, are worthless (RFC 5280, 4.2.1.10).
    std::vector<std::string> only_for;
};

// A server's certificate with its key.
struct Leaf {
    Certificate certificate;
    Key key;
};

// A private certificate authority. Can be used by several threads at once.
class Authority {
public:
    [[nodiscard]] static Authority make(const AuthorityOptions& options);
    // Throws Error{invalid_argument} when this is no authority or the key is another's.
    [[nodiscard]] static Authority load(const std::string& certificate_pem, const std::string& key_pem);

    // A certificate for a server that answers to all of `names` (names.hpp). Throws Error{invalid_argument}
    // when there is none, or one is not a name. Makes a key of its own: about 50 us.
    [[nodiscard]] Leaf issue(const std::vector<std::string>& names, std::chrono::hours lifetime) const;

    // Whether a client that trusts this authority only would take the certificate for `host`, today.
    [[nodiscard]] bool vouches_for(X509* certificate, const std::string& host) const;

    [[nodiscard]] X509* certificate() const noexcept { return certificate_.get(); }
    [[nodiscard]] std::string certificate_pem() const;
    [[nodiscard]] std::string key_pem() const;

private:
    Authority(Certificate certificate, Key key)
        : certificate_{std::move(certificate)}, key_{std::move(key)} {}

    Certificate certificate_;
    Key key_;
};

}  // namespace oyat::pki
