#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "pki/authority.hpp"

namespace oyat::egress {

// The certificate authority of each tenant, by which connections that are read are shown a certificate. Only
// the tenant's own sandboxes trust it. Made when it is first needed, with its key in a file that oyatd alone
// can read: after a restart sandboxes find what they trust.
class TenantAuthorities {
public:
    // Without a directory they are kept in memory only, and a restart makes new ones.
    explicit TenantAuthorities(std::filesystem::path directory) : directory_{std::move(directory)} {}

    // Reads or writes a small file the first time. Throws Error when that fails, or holds no authority.
    [[nodiscard]] const pki::Authority& of(const std::string& tenant);

private:
    [[nodiscard]] pki::Authority load_or_make(const std::string& tenant) const;

    std::filesystem::path directory_;
    std::map<std::string, pki::Authority> known_;
};

}  // namespace oyat::egress
