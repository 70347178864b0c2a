#pragma once

#include <boost/json/object.hpp>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "core/store.hpp"
#include "secrets/seal.hpp"

using EVP_PKEY = struct evp_pkey_st;

namespace oyat::secrets {

// Says who a sandbox is, to services that trust this server: short-lived tokens (RFC 7519) signed with a key
// of the server (ES256), whose public half anybody may fetch (RFC 7517). Lives on the loop.
class Identities {
public:
    static constexpr std::chrono::minutes kLife{10};

    // `issuer`: the URL by which services find us, https://api.example.
    Identities(const Clock& clock, core::Store& store, const Seal& seal, std::string issuer);

    Task<> load();  // makes the key at the first start

    // {"iss","sub":"TENANT/SANDBOX","aud","iat","nbf","exp","jti"}
    [[nodiscard]] std::string token(const std::string& tenant, const std::string& sandbox,
                                    const std::string& audience) const;
    [[nodiscard]] boost::json::object key_set() const;
    [[nodiscard]] const std::string& issuer() const { return issuer_; }

private:
    struct Freer {
        void operator()(EVP_PKEY* key) const noexcept;
    };
    void adopt(EVP_PKEY* key);

    const Clock& clock_;
    core::Store& store_;
    const Seal& seal_;
    const std::string issuer_;
    std::unique_ptr<EVP_PKEY, Freer> key_;
    std::string key_id_, x_, y_;  // of the public half, base64url
};

}  // namespace oyat::secrets
