#include "packages/file_names.hpp"

#include <gtest/gtest.h>

namespace oyat::packages {
namespace {

std::string shown(const std::optional<Package>& package) {
    if (!package) return "nothing";
    return std::string{to_string(package->ecosystem)} + " " + package->name + " " + package->version;
}

TEST(PackageFileNames, StoresOfCratesAndModulesTellByTheirNames) {
    EXPECT_EQ(shown(stored_artefact("root/.cargo/registry/cache/index.crates.io-1/itoa-1.0.9.crate")),
              "cargo itoa 1.0.9");
    EXPECT_EQ(shown(stored_artefact("x/registry/cache/i/proc-macro2-1.0.1+b.crate")),
              "cargo proc-macro2 1.0.1+b");
    EXPECT_EQ(shown(stored_artefact("go/pkg/mod/cache/download/golang.org/x/text/@v/v0.3.0.zip")),
              "go golang.org/x/text v0.3.0");
    EXPECT_EQ(shown(stored_artefact("m/cache/download/github.com/!burnt!sushi/toml/@v/v1.2.0.zip")),
              "go github.com/BurntSushi/toml v1.2.0");
    for (const char* path :
         {"a/itoa-1.0.crate", "registry/cache/a/b/c-1.crate", "x/cache/download/a/@v/v1.mod",
          "x/cache/download/a!/@v/v1.zip", "x/registry/cache/i/noversion.crate"}) {
        EXPECT_EQ(shown(stored_artefact(path)), "nothing") << path;
    }
}

TEST(PackageFileNames, RequestsOfRegistriesNameWhatTheyFetch) {
    for (const auto& [path, what] : std::initializer_list<std::pair<const char*, const char*>>{
             {"/packages/70/8e/requests-2.31.0-py3-none-any.whl", "python requests 2.31.0"},
             {"/packages/source/f/flask-login/flask-login-0.6.tar.gz?x=1", "python flask-login 0.6"},
             {"/is-number/-/is-number-7.0.0.tgz", "npm is-number 7.0.0"},
             {"/npm/@types/node/-/node-20.1.0.tgz", "npm @types/node 20.1.0"},
             {"/debian/pool/main/c/curl/curl_7.88.1-10%2bdeb12_amd64.deb", "debian curl 7.88.1-10+deb12"},
             {"/debian/pool/main/g/git/git_1%3a2.39.5-0_amd64.deb", "debian git 1:2.39.5-0"},
             {"/crates/itoa/itoa-1.0.9.crate", "cargo itoa 1.0.9"},
             {"/api/v1/crates/itoa/1.0.9/download", "cargo itoa 1.0.9"},
             {"/golang.org/x/text/@v/v0.3.0.zip", "go golang.org/x/text v0.3.0"},
             {"/simple/requests/", "nothing"},
             {"/golang.org/x/text/@v/list", "nothing"},
             {"/", "nothing"}}) {
        EXPECT_EQ(shown(requested_artefact(path)), what) << path;
    }
}

}  // namespace
}  // namespace oyat::packages
