#include "egress/tunnel_watch.hpp"

#include <gtest/gtest.h>

#include "base/sha256.hpp"
#include "egress/registered_domain.hpp"

namespace oyat::egress {
namespace {

using Verdict = TunnelWatch::Verdict;

constexpr MonoTime kNow{std::chrono::hours{1}};

// 40 characters out of 32, as base32 makes them of data.
std::string chunk(int number) {
    const std::string hex = sha256_hex(std::to_string(number)) + sha256_hex(std::to_string(-number - 1));
    std::string out;
    for (std::size_t i = 0; i < 40; ++i) {
        const int value = std::stoi(hex.substr(2 * i, 2), nullptr, 16);
        out += "abcdefghijklmnopqrstuvwxyz234567"[value & 31];
    }
    return out;
}

bool is_suspicious(const std::string& name) {
    return looks_like_data(name, registered_domain(name));
}

// How many of these names pass before the domain is found, or all.
int passed(TunnelWatch& watch, const std::function<std::string(int)>& name, int count, MonoTime now = kNow) {
    for (int i = 0; i < count; ++i) {
        if (watch.see(name(i), now) != Verdict::pass) return i;
    }
    return count;
}

TEST(RegisteredDomain, IsWhatSomebodyRegistered) {
    EXPECT_EQ(registered_domain("www.shop.example.co.uk"), "example.co.uk");
    EXPECT_EQ(registered_domain("example.com"), "example.com");
    EXPECT_EQ(registered_domain("d111111abcdef8.cloudfront.net"), "d111111abcdef8.cloudfront.net");
    EXPECT_EQ(registered_domain("a.b.c.internal"), "c.internal");
    EXPECT_EQ(registered_domain("co.uk"), "co.uk");
    EXPECT_EQ(registered_domain("localhost"), "localhost");
    EXPECT_EQ(registered_domain(""), "");
}

TEST(LooksLikeData, KnowsWhatTunnelsUse) {
    for (const std::string& name : {
             std::string(41, 'a') + ".evil.test",  // a long label, whatever is in it
             chunk(1) + ".evil.test",              // base32
             chunk(1).substr(0, 16) + "." + chunk(2).substr(0, 16) + ".evil.test",  // in short labels
             sha256_hex("x").substr(0, 40) + ".evil.test",                          // hexadecimal
             std::string{"31415926535897932384626.evil.test"},
             sha256_hex("x").substr(0, 40) + ".t.evil.test",  // with more in front of the domain
             std::string{"550e8400-e29b-41d4-a716-446655440000.evil.test"},
         }) {
        EXPECT_TRUE(is_suspicious(name)) << name;
    }
}

TEST(LooksLikeData, LeavesNamesThatPeopleGive) {
    for (const std::string name : {
             "registry.npmjs.org",
             "files.pythonhosted.org",
             "deb.debian.org",
             "security.debian.org",
             "github.com",
             "objects.githubusercontent.com",
             "release-assets.githubusercontent.com",
             "static.crates.io",
             "index.crates.io",
             "proxy.golang.org",
             "sum.golang.org",
             "storage.googleapis.com",
             "production.cloudflare.docker.com",
             "auth.docker.io",
             "registry-1.docker.io",
             "repo.maven.apache.org",
             "plugins.gradle.org",
             "nodejs.org",
             "playwright.azureedge.net",
             "fonts.gstatic.com",
             "huggingface.co",
             "cdn-lfs.huggingface.co",
             "us-east-1.console.aws.amazon.com",
             "ec2-54-12-33-101.us-west-2.compute.amazonaws.com",
             "my-bucket-name.s3.eu-central-1.amazonaws.com",
             "d111111abcdef8.cloudfront.net",
             "rr4---sn-4g5e6nz7.googlevideo.com",
             "scontent-fra3-1.xx.fbcdn.net",
             "localhost",
             "",
         }) {
        EXPECT_FALSE(is_suspicious(name)) << name;
    }
}

TEST(TunnelWatch, FindsManyNamesOfDataUnderOneDomainAndRefusesItFromThere) {
    TunnelWatch watch;
    EXPECT_EQ(passed(watch, [](int i) { return chunk(i) + ".t.evil.test"; }, 1000), 100);
    EXPECT_EQ(watch.see(chunk(5000) + ".t.evil.test", kNow), Verdict::refused);
    EXPECT_EQ(watch.see("www.evil.test", kNow + std::chrono::hours{5}), Verdict::refused);
    EXPECT_EQ(watch.see("www.good.test", kNow), Verdict::pass);
}

TEST(TunnelWatch, TellsOfADomainOnce) {
    TunnelWatch watch;
    int found = 0;
    for (int i = 0; i < 500; ++i) found += watch.see(chunk(i) + ".evil.test", kNow) == Verdict::found ? 1 : 0;
    EXPECT_EQ(found, 1);
}

TEST(TunnelWatch, TheSameNamesAgainAreNoTunnel) {
    TunnelWatch watch;
    EXPECT_EQ(passed(watch, [](int i) { return chunk(i % 100) + ".cdn.test"; }, 2000), 2000);
}

TEST(TunnelWatch, ForgetsNamesAfterTenMinutes) {
    TunnelWatch watch;
    EXPECT_EQ(passed(watch, [](int i) { return chunk(i) + ".cdn.test"; }, 100), 100);
    const auto more = [](int i) { return chunk(100 + i) + ".cdn.test"; };
    EXPECT_EQ(passed(watch, more, 100, kNow + TunnelWatch::kWindow), 100);
}

// What an hour of installing and testing looks up, all at once: the indexes, the hosts of artefacts, and
// content networks whose names hold hashes.
TEST(TunnelWatch, HonestWorkIsLeftAlone) {
    TunnelWatch watch;
    for (int i = 0; i < 3000; ++i) {
        const std::string hex = sha256_hex(std::to_string(i));
        const std::string mirror = "mirror-" + std::to_string(i % 400) + ".pool.ntp.org";
        for (const std::string& name :
             {std::string{"registry.npmjs.org"}, std::string{"files.pythonhosted.org"}, mirror,
              "d" + hex.substr(0, 13) + ".cloudfront.net",            // each is a domain of its own
              hex.substr(0, 32) + ".s3.amazonaws.com",                // a bucket
              "cdn-" + hex.substr(0, 8) + ".jsdelivr.net",            // short
              "worker-" + std::to_string(i) + ".builds.example.com",  // numbered
              sha256_hex(std::to_string(i % 80)).substr(0, 24) + ".blob.core.windows.net",
              sha256_hex(std::to_string(i % 90)).substr(0, 40) + ".objects.example.org"}) {
            EXPECT_EQ(watch.see(name, kNow + std::chrono::seconds{i / 10}), Verdict::pass) << name;
        }
    }
}

TEST(TunnelWatch, AFullTableDoesNotHideTheDomainThatIsUsed) {
    TunnelWatch watch;
    EXPECT_EQ(passed(watch, [](int i) { return chunk(i) + ".evil.test"; }, 90), 90);
    passed(watch, [](int i) { return chunk(i) + ".decoy" + std::to_string(i) + ".test"; }, 2000);
    EXPECT_EQ(passed(watch, [](int i) { return chunk(90 + i) + ".evil.test"; }, 100), 10);
}

TEST(TunnelWatch, WithEveryPlaceTakenByTunnelsNoMoreDataPasses) {
    TunnelWatch watch;
    for (std::size_t domain = 0; domain < TunnelWatch::kMaxDomains; ++domain) {
        const std::string suffix = ".evil" + std::to_string(domain) + ".test";
        ASSERT_EQ(passed(watch, [&](int i) { return chunk(i) + suffix; }, 200), 100);
    }
    EXPECT_EQ(watch.see(chunk(1) + ".one-more.test", kNow), Verdict::refused);
    EXPECT_EQ(watch.see("www.one-more.test", kNow), Verdict::pass);
}

}  // namespace
}  // namespace oyat::egress
