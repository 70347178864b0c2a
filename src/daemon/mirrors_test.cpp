#include "daemon/mirrors.hpp"

#include <gtest/gtest.h>

namespace oyat::daemon {
namespace {

// "host:port" of each.
std::string shown(const std::vector<policy::Mirror>& mirrors) {
    std::string all;
    for (const policy::Mirror& mirror : mirrors) {
        all += all.empty() ? "" : " ";
        all += (mirror.host ? mirror.host->text() : mirror.address->to_string()) + ":" +
               std::to_string(mirror.port);
    }
    return all;
}

TEST(Mirrors, StandInTheVariablesOfPackageManagers) {
    using Environment = std::map<std::string, std::string>;
    EXPECT_EQ(shown(mirrors_in(
                  Environment{{"PIP_INDEX_URL", "https://u:p@pypi.corp.test/simple"},
                              {"GOPROXY", "http://go.corp.test:3000|https://proxy.golang.org,direct"},
                              {"CARGO_REGISTRIES_CORP_INDEX", "sparse+https://crates.corp.test/index/"},
                              {"HOMEPAGE", "https://elsewhere.test"}})),
              "crates.corp.test:443 go.corp.test:3000 proxy.golang.org:443 pypi.corp.test:443");
}

TEST(Mirrors, StandInTheFilesOfPackageManagers) {
    EXPECT_EQ(shown(mirrors_in(std::string_view{
                  "Types: deb\n# http://old.test/debian\nURIs: http://deb.corp.test/debian\n"})),
              "deb.corp.test:80");
    EXPECT_EQ(shown(mirrors_in(std::string_view{"deb [signed-by=/k] http://10.1.1.1:3142/debian bookworm "
                                                "main\nregistry=\"https://npm.corp.test/\""})),
              "10.1.1.1:3142 npm.corp.test:443");
    EXPECT_EQ(shown(mirrors_in(std::string_view{""})), "");
    EXPECT_EQ(shown(mirrors_of_machine("/nowhere")), "");
}

}  // namespace
}  // namespace oyat::daemon
