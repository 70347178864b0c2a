#include "keeper/operator_files.hpp"

#include <gtest/gtest.h>

namespace oyat::keeper {
namespace {

class Tree final : public TextSource {
public:
    Tree(std::initializer_list<std::pair<const std::string, std::string>> files) : files_{files} {}

    std::string read(const std::string& path) const override {
        const auto found = files_.find(path);
        return found == files_.end() ? "" : found->second;
    }
    std::vector<std::string> list(const std::string& dir, std::string_view suffix) const override {
        std::vector<std::string> found;
        for (const auto& [path, text] : files_) {
            if (path.starts_with(dir + "/") && path.ends_with(suffix)) found.push_back(path);
        }
        return found;
    }

private:
    std::map<std::string, std::string> files_;
};

std::string pem(const std::string& body) {
    return "-----BEGIN CERTIFICATE-----\n" + body + "\n-----END CERTIFICATE-----\n";
}
const std::string kBundle = "etc/ssl/certs/ca-certificates.crt";

TEST(OperatorFiles, MergesTheHostsCertificatesIntoTheImagesBundle) {
    const Tree host{{"usr/local/share/ca-certificates/company.crt", pem("CO")},
                    {kBundle, pem("AA") + pem("CO")}};
    const Tree image{{kBundle, pem("AA") + pem("BB")}};
    const OperatorFiles files = compose_operator_files(host, image);
    EXPECT_EQ(files.at(kBundle), pem("AA") + pem("BB") + pem("CO"));
    EXPECT_EQ(files.at("usr/local/share/ca-certificates/operator-1.crt"), pem("CO"));
}

TEST(OperatorFiles, LeavesTheBundleAloneWhenNothingIsMissing) {
    const Tree host{{kBundle, pem("AA")}};
    EXPECT_FALSE(compose_operator_files(host, Tree{{kBundle, pem("AA")}}).contains(kBundle));
}

TEST(OperatorFiles, GivesAnImageWithoutCertificatesTheHosts) {
    EXPECT_EQ(compose_operator_files(Tree{{kBundle, pem("AA")}}, Tree{}).at(kBundle), pem("AA"));
}

TEST(OperatorFiles, TakesTheHostsMirrorOnlyForTheSameRelease) {
    const Tree host{{"etc/os-release", "VERSION_CODENAME=bookworm\n"},
                    {"etc/apt/sources.list", "deb http://mirror.example/debian bookworm main\n"}};
    const std::string sources = "etc/apt/sources.list";
    EXPECT_EQ(
        compose_operator_files(host, Tree{{"etc/os-release", "VERSION_CODENAME=bookworm\n"}}).at(sources),
        "deb http://mirror.example/debian bookworm main\n");
    EXPECT_FALSE(compose_operator_files(host, Tree{{"etc/os-release", "VERSION_CODENAME=trixie\n"}})
                     .contains(sources));
    EXPECT_FALSE(compose_operator_files(host, Tree{}).contains(sources));
}

TEST(OperatorFiles, AlwaysNamesAResolver) {
    EXPECT_EQ(compose_operator_files(Tree{}, Tree{}).at("etc/resolv.conf"), "nameserver 10.254.0.53\n");
}

TEST(OperatorFiles, CarriesNoCredentialOfTheHost) {
    const Tree host{{"etc/pip.conf", "[global]\nindex-url = https://me:geheim@a.example\n"},
                    {"root/.npmrc", "//a.example/:_authToken=geheim\nregistry=https://me:geheim@a.example\n"},
                    {"etc/os-release", "VERSION_CODENAME=bookworm\n"},
                    {"etc/apt/sources.list", "deb https://me:geheim@a.example/debian bookworm main\n"},
                    {"etc/apt/apt.conf", "Acquire::http::Proxy \"http://me:geheim@a.example\";\n"}};
    for (const auto& [path, text] :
         compose_operator_files(host, Tree{{"etc/os-release", "VERSION_CODENAME=bookworm\n"}})) {
        EXPECT_FALSE(text.contains("geheim")) << path;
    }
}

}  // namespace
}  // namespace oyat::keeper
