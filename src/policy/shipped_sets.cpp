#include "policy/shipped.hpp"

// As of November 2026. Indexes and the hosts that their files come from; no host where anybody may publish a
// page.
namespace oyat::policy {
namespace {

constexpr std::string_view kRegistries[] = {
    // Python
    "pypi.org",
    "files.pythonhosted.org",
    "conda.anaconda.org",
    "repo.anaconda.com",
    // JavaScript
    "registry.npmjs.org",
    "registry.yarnpkg.com",
    // Debian, Ubuntu, Alpine, Fedora
    "deb.debian.org",
    "security.debian.org",
    "archive.ubuntu.com",
    "security.ubuntu.com",
    "ports.ubuntu.com",
    "*.archive.ubuntu.com",
    "dl-cdn.alpinelinux.org",
    "mirrors.fedoraproject.org",
    "dl.fedoraproject.org",
    // Rust, Go
    "crates.io",
    "index.crates.io",
    "static.crates.io",
    "static.rust-lang.org",
    "proxy.golang.org",
    "sum.golang.org",
    // Java, .NET
    "repo.maven.apache.org",
    "repo1.maven.org",
    "plugins.gradle.org",
    "api.nuget.org",
    // Ruby, PHP, Elixir, Haskell, R, Perl
    "rubygems.org",
    "index.rubygems.org",
    "repo.packagist.org",
    "repo.hex.pm",
    "hackage.haskell.org",
    "cran.r-project.org",
    "cloud.r-project.org",
    "cpan.metacpan.org",
    "fastapi.metacpan.org",
};

constexpr std::string_view kGitHosts[] = {
    "github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "git.sr.ht", "salsa.debian.org", "gitea.com",
};

// Smart HTTP, gitprotocol-http(5): the service that is asked for tells reading from writing.
constexpr std::string_view kGitRead[] = {"/info/refs?service=git-upload-pack", "/git-upload-pack"};
constexpr std::string_view kGitWrite[] = {"/info/refs?service=git-receive-pack", "/git-receive-pack"};

constexpr ShippedSet kHostSets[] = {{"@registries", kRegistries}, {"@git-hosts", kGitHosts}};
constexpr ShippedSet kPathSets[] = {{"@git-read", kGitRead}, {"@git-write", kGitWrite}};

}  // namespace

std::span<const ShippedSet> shipped_host_sets() {
    return kHostSets;
}
std::span<const ShippedSet> shipped_path_sets() {
    return kPathSets;
}

}  // namespace oyat::policy
