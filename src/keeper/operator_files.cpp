#include "keeper/operator_files.hpp"

#include <vector>

#include "keeper/apt_sources.hpp"
#include "keeper/index_settings.hpp"
#include "keeper/pem_bundle.hpp"

namespace oyat::keeper {
namespace {

constexpr const char* kBundle = "etc/ssl/certs/ca-certificates.crt";
constexpr const char* kExtraCertificates = "usr/local/share/ca-certificates";

// Any address will do: every DNS question in a sandbox is turned to its name server. Not the sandbox's own,
// which programs inside may serve on.
constexpr const char* kResolver = "nameserver 10.254.0.53\n";

std::string joined(const TextSource& host, const std::vector<std::string>& paths) {
    std::string text;
    for (const std::string& path : paths) {
        text += host.read(path);
        if (!text.empty() && text.back() != '\n') text += '\n';
    }
    return text;
}

std::vector<std::string> host_certificates(const TextSource& host) {
    std::vector<std::string> all;
    for (const std::string& file : host.list(kExtraCertificates, ".crt")) {
        for (std::string& each : certificates_in(host.read(file))) all.push_back(std::move(each));
    }
    for (std::string& each : certificates_in(host.read(kBundle))) all.push_back(std::move(each));
    return all;
}

// One bundle of the image's certificates and what the host has on top. The additions also stand alone, where
// the image's update-ca-certificates looks for local ones: it would write a bundle without them otherwise.
void add_certificates(OperatorFiles& files, const TextSource& host, const TextSource& image) {
    const std::string own = image.read(kBundle);
    const std::vector<std::string> missing =
        certificates_missing(certificates_in(own), host_certificates(host));
    if (missing.empty()) return;
    std::string bundle = own;
    if (!bundle.empty() && bundle.back() != '\n') bundle += '\n';
    for (std::size_t at = 0; at < missing.size(); ++at) {
        bundle += missing[at];
        files[std::string{kExtraCertificates} + "/operator-" + std::to_string(at + 1) + ".crt"] = missing[at];
    }
    files[kBundle] = std::move(bundle);
}

void add_package_indexes(OperatorFiles& files, const TextSource& host) {
    files["etc/pip.conf"] =
        pip_conf(joined(host, {"etc/pip.conf", "root/.config/pip/pip.conf", "root/.pip/pip.conf"}));
    const std::string npm =
        npmrc(joined(host, {"root/.npmrc", "etc/npmrc", "usr/etc/npmrc", "usr/local/etc/npmrc"}));
    // npm's global file lies below its prefix, which differs by who packaged it.
    for (const char* path : {"etc/npmrc", "usr/etc/npmrc", "usr/local/etc/npmrc"}) files[path] = npm;
}

void add_apt(OperatorFiles& files, const TextSource& host, const TextSource& image) {
    const std::string release = release_in(image.read("etc/os-release"));
    if (!release.empty() && release == release_in(host.read("etc/os-release"))) {
        AptSources sources{release};
        for (const std::string& file : host.list("etc/apt/sources.list.d", ".list")) {
            sources.add_one_line_file(host.read(file));
        }
        sources.add_one_line_file(host.read("etc/apt/sources.list"));
        for (const std::string& file : host.list("etc/apt/sources.list.d", ".sources")) {
            sources.add_deb822_file(host.read(file));
        }
        if (!sources.lines().empty()) files["etc/apt/sources.list"] = sources.lines();
    }
    std::vector<std::string> settings = host.list("etc/apt/apt.conf.d", "");
    settings.emplace_back("etc/apt/apt.conf");
    if (std::string proxies = apt_proxies(joined(host, settings)); !proxies.empty()) {
        files["etc/apt/apt.conf.d/90operator-proxy"] = std::move(proxies);
    }
}

}  // namespace

OperatorFiles compose_operator_files(const TextSource& host, const TextSource& image) {
    OperatorFiles files;
    add_certificates(files, host, image);
    add_package_indexes(files, host);
    add_apt(files, host, image);
    files["etc/resolv.conf"] = kResolver;
    return files;
}

std::string operator_hosts(const TextSource& host) {
    return foreign_hosts(host.read("etc/hosts"));
}

}  // namespace oyat::keeper
