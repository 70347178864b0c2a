#include "keeper/index_settings.hpp"

#include <gtest/gtest.h>

namespace oyat::keeper {
namespace {

const std::string kCert = "cert = /etc/ssl/certs/ca-certificates.crt\n";
const std::string kCafile = "cafile=/etc/ssl/certs/ca-certificates.crt\n";

TEST(IndexSettings, TakesOnlyUrlsWithoutUserNames) {
    for (const char* good : {"https://a.example/simple", "http://a.example:80", "https://a.example/x@y"}) {
        EXPECT_TRUE(is_plain_url(good)) << good;
    }
    for (const char* bad :
         {"", "ftp://a", "https://", "https://user@a.example/", "https://user:word@a.example",
          "https://a.example/\nb", "https://a b", "file:///etc/passwd"}) {
        EXPECT_FALSE(is_plain_url(bad)) << bad;
    }
}

TEST(IndexSettings, KeepsPipsIndexesAndPointsItAtTheBundle) {
    EXPECT_EQ(
        pip_conf(
            "[global]\nindex-url = https://mirror.example/simple\ncert=/somewhere/else.pem\ntimeout = 3\n"
            "trusted-host = mirror.example\n[wheel]\nindex-url = https://other.example\n"),
        "[global]\n" + kCert + "index-url = https://mirror.example/simple\ntrusted-host = mirror.example\n");
}

TEST(IndexSettings, ReadsPipValuesOverSeveralLines) {
    EXPECT_EQ(pip_conf("[install]\nextra-index-url =\n    https://a.example\n    https://b.example\n"),
              "[global]\n" + kCert + "extra-index-url = https://a.example https://b.example\n");
}

TEST(IndexSettings, LeavesOutAPipIndexWithAPassword) {
    EXPECT_EQ(pip_conf("[global]\nindex-url = https://me:word@mirror.example/simple\n"),
              "[global]\n" + kCert);
    EXPECT_EQ(pip_conf("[global]\nextra-index-url = https://a.example https://me:word@b.example\n"),
              "[global]\n" + kCert);
}

TEST(IndexSettings, KeepsNpmRegistriesButNoTokens) {
    EXPECT_EQ(npmrc("registry=https://npm.example/\n//npm.example/:_authToken=abc\n@corp:registry = "
                    "\"https://c.example\"\n"
                    "_auth=xyz\ncafile=/elsewhere\n"),
              kCafile + "registry=https://npm.example/\n@corp:registry=https://c.example\n");
    EXPECT_EQ(npmrc("registry=https://user:word@npm.example/\n"), kCafile);
}

TEST(IndexSettings, KeepsAptProxiesWithoutPasswords) {
    EXPECT_EQ(
        apt_proxies(
            "Acquire::http::Proxy \"http://proxy.example:3128\";\n// Acquire::http::Proxy \"http://x\";\n"
            "Acquire::https::Proxy \"http://me:word@proxy.example\";\nAPT::Get::Assume-Yes \"true\";\n"
            "Acquire::http::deb.example::Proxy \"DIRECT\";\n"),
        "Acquire::http::Proxy \"http://proxy.example:3128\";\nAcquire::http::deb.example::Proxy "
        "\"DIRECT\";\n");
}

TEST(IndexSettings, KeepsNamesOfOtherMachines) {
    EXPECT_EQ(
        foreign_hosts("127.0.0.1 localhost\n127.0.1.1 thishost\n::1 ip6-localhost\nff02::1 ip6-allnodes\n"
                      "10.1.2.3  mirror.example  mirror # ours\n# 10.9.9.9 old\nnonsense\n"),
        "10.1.2.3 mirror.example mirror\n");
}

}  // namespace
}  // namespace oyat::keeper
