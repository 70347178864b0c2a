#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/fd.hpp"
#include "base/throwing.hpp"
#include "cli/commands.hpp"
#include "cli/local_file.hpp"
#include "pki/authority.hpp"
#include "pki/names.hpp"
#include "pki/pem.hpp"

// A domain for previews without a certificate that the world trusts.
namespace oyat::cli {
namespace {

namespace fs = std::filesystem;

// Browsers take no server's certificate that is for more than 398 days.
constexpr std::chrono::hours kCertificateLife{24 * 397};
constexpr const char* kSystemAuthorities = "/etc/ssl/certs/ca-certificates.crt";

std::string read(const fs::path& path) {
    std::ifstream file{path, std::ios::binary};
    if (!file) local_failure(path, "cannot read");
    return {std::istreambuf_iterator<char>{file}, {}};
}

// Takes its name when it is whole, with its rights from the beginning.
void place(const fs::path& path, const std::string& text, mode_t mode, gid_t group) {
    const fs::path partial = path.string() + ".new";
    const Fd file{::open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600)};
    if (!file || ::fchown(file.get(), static_cast<uid_t>(-1), group) != 0 ||
        ::fchmod(file.get(), mode) != 0 ||
        ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
        ::rename(partial.c_str(), path.c_str()) != 0) {
        local_failure(path, "cannot write");
    }
}

// The server is in this group, where the package or scripts/setup made it; a key for nobody else.
gid_t servers_group() {
    const group* entry = ::getgrnam("oyat");
    return entry != nullptr && ::geteuid() == 0 ? entry->gr_gid : static_cast<gid_t>(-1);
}

// The one that is there already, so that clients that trust it go on; else a new one.
pki::Authority authority_in(const fs::path& directory, const std::string& name) {
    const fs::path certificate = directory / "ca.pem";
    const fs::path key = directory / "ca-key.pem";
    if (fs::exists(certificate) || fs::exists(key)) {
        return in(directory.string(), [&] { return pki::Authority::load(read(certificate), read(key)); });
    }
    pki::Authority made = pki::Authority::make({.name = "oyat authority", .only_for = {name}});
    place(key, made.key_pem(), 0600, static_cast<gid_t>(-1));
    place(certificate, made.certificate_pem(), 0644, static_cast<gid_t>(-1));
    return made;
}

// For programs that trust one file only, and nothing beside it.
std::string bundle_with(const pki::Authority& authority) {
    std::error_code none;
    const std::string system = fs::exists(kSystemAuthorities, none) ? read(kSystemAuthorities) : "";
    return system + authority.certificate_pem();
}

std::string advice(const std::string& domain, const fs::path& directory) {
    const std::string authority = (directory / "ca.pem").string();
    const std::string bundle = (directory / "bundle.pem").string();
    return "A certificate for " + domain + " and all names below it is in " + directory.string() +
           ".\nThe server uses it with\n\n    oyatd --state " + directory.parent_path().string() +
           " --tls-domain " + domain +
           " ...\n\nClients must trust its authority, which vouches for this name only:\n\n" +
           "    E2B SDKs   export E2B_DOMAIN=" + domain + "\n" +
           "    Node       export NODE_EXTRA_CA_CERTS=" + authority + "\n" +
           "    Python     export SSL_CERT_FILE=" + bundle + "\n" +
           "    curl       export CURL_CA_BUNDLE=" + bundle + "\n" + "    browser    import " + authority +
           " as an authority for web sites\n";
}

}  // namespace

int tls_init(Context& context, TlsInit options) {
    const std::string name = options.domain.substr(0, options.domain.find(':'));
    if (!pki::is_host_name(name)) {
        throw Error{Errc::invalid_argument,
                    "'" + options.domain + "' is not NAME or NAME:PORT, in lower case"};
    }
    const fs::path directory = fs::absolute(options.state) / "tls";
    std::error_code problem;
    fs::create_directories(directory, problem);
    if (problem) throw Error{Errc::failed_precondition, directory.string() + ": " + problem.message()};
    const pki::Authority authority = authority_in(directory, name);
    const pki::Leaf leaf = authority.issue({name, "*." + name}, kCertificateLife);
    if (!authority.vouches_for(leaf.certificate.get(), name)) {
        throw Error{Errc::failed_precondition,
                    "the authority in " + directory.string() +
                        " is for another name: move the directory away, and clients must trust a new one"};
    }
    const gid_t group = servers_group();
    const bool shared = group != static_cast<gid_t>(-1);
    place(directory / "key.pem", pki::to_pem(leaf.key.get()), shared ? 0640 : 0600, group);
    place(directory / "certificate.pem", pki::to_pem(leaf.certificate.get()), 0644, static_cast<gid_t>(-1));
    place(directory / "bundle.pem", bundle_with(authority), 0644, static_cast<gid_t>(-1));
    if (context.json) {
        print(boost::json::serialize(
                  boost::json::object{{"domain", options.domain},
                                      {"authority", (directory / "ca.pem").string()},
                                      {"bundle", (directory / "bundle.pem").string()},
                                      {"certificate", (directory / "certificate.pem").string()},
                                      {"key", (directory / "key.pem").string()}}) +
              "\n");
    } else {
        print(advice(options.domain, directory));
    }
    return 0;
}

}  // namespace oyat::cli
