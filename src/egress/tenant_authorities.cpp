#include "egress/tenant_authorities.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "base/fd.hpp"
#include "base/throwing.hpp"
#include "http/url.hpp"

namespace oyat::egress {
namespace {

// Longer than any sandbox lives, whose trust cannot be renewed from outside.
constexpr std::chrono::hours kLifetime{24 * 3650};
constexpr std::size_t kShownName = 40;

void write_all(int file, std::string_view text) {
    while (!text.empty()) {
        text.remove_prefix(static_cast<std::size_t>(sys(::write(file, text.data(), text.size()), "write")));
    }
}

// All of it or nothing, whatever happens meanwhile.
void write_private(const std::filesystem::path& path, const std::string& text) {
    const std::string beside = path.native() + ".new";
    {
        const Fd file{sys(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600),
                          "open " + beside)};
        write_all(file.get(), text);
        sys(::fsync(file.get()), "sync " + beside);
    }
    sys(::rename(beside.c_str(), path.c_str()), "rename " + beside);
}

pki::Authority make(const std::string& tenant) {
    return pki::Authority::make({.name = "oyat, for sandboxes of " + tenant.substr(0, kShownName),
                                 .lifetime = kLifetime,
                                 .only_for = {}});
}

}  // namespace

const pki::Authority& TenantAuthorities::of(const std::string& tenant) {
    const auto known = known_.find(tenant);
    if (known != known_.end()) return known->second;
    return known_.emplace(tenant, load_or_make(tenant)).first->second;
}

pki::Authority TenantAuthorities::load_or_make(const std::string& tenant) const {
    if (directory_.empty()) return make(tenant);
    if (::mkdir(directory_.c_str(), 0700) != 0 && errno != EEXIST) sys(-1, "make " + directory_.native());
    // Whatever a tenant is called, its file lies in this directory.
    const std::filesystem::path path = directory_ / (http::percent_encode(tenant) + ".pem");
    if (std::ifstream file{path, std::ios::binary}) {
        const std::string text{std::istreambuf_iterator<char>{file}, {}};
        return in("the authority in " + path.native(), [&] { return pki::Authority::load(text, text); });
    }
    pki::Authority made = make(tenant);
    write_private(path, made.certificate_pem() + made.key_pem());
    return made;
}

}  // namespace oyat::egress
