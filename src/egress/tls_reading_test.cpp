#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "egress/host_certificates.hpp"
#include "egress/read_scene_for_tests.hpp"
#include "pki/pem.hpp"

namespace oyat::egress {
namespace {

using namespace testing;
using http::TlsContext;
using http::testing::has;
using http::testing::read_until;

constexpr std::chrono::hours kDay{24};

// Servers out in the world, with an authority that oyatd trusts; and the tenant's own authority.
struct TlsWorld {
    explicit TlsWorld(ReadScene& of) : scene{of} {
        scene.tls =
            TlsReading{.identity = [this](const std::string& host) { return certificates.of("acme", host); },
                       .trust = &trust};
        show({"a.test"}, kDay);
    }

    void show(const std::vector<std::string>& names, std::chrono::hours lifetime) {
        show(world.issue(names, lifetime));
    }
    void show(const pki::Leaf& leaf) {
        scene.port = scene.world.listen_tls("127.0.0.1", 0, pki::to_pem(leaf.certificate.get()),
                                            pki::to_pem(leaf.key.get()));
    }

    // A program that trusts the tenant's authority, as the sandbox does.
    Task<std::unique_ptr<Stream>> program(std::string name = "a.test") {
        co_return co_await http::tls_connect(inside, scene.program(name), name);
    }
    Task<std::string> ask(std::string host = "a.test") {
        auto stream = co_await program();
        co_await stream->write_all("GET /x HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n");
        std::string answer = co_await http::testing::read_to_end(*stream);
        stream.reset();
        co_await scene.tasks.wait_idle();
        co_return answer;
    }

    ReadScene& scene;
    pki::Authority world = pki::Authority::make({.name = "the world's"});
    TenantAuthorities authorities{{}};
    HostCertificates certificates{authorities, scene.clock};
    TlsContext trust = TlsContext::client_trusting_also(world.certificate_pem());
    TlsContext inside = TlsContext::client(authorities.of("acme").certificate_pem());
};

TEST(TlsReading, EndsTlsInsideAndVerifiesTheServer) {
    in_scene([](ReadScene& scene) -> Task<> {
        TlsWorld world{scene};
        scene.policy = only({allow("x", {"GET"}, {"/x"})});
        EXPECT_TRUE(has(co_await world.ask(), "/x of a.test"));
        EXPECT_TRUE(scene.log.has("http.request", "\"path\":\"/x\""));
        scene.policy = only({allow("y", {"GET"}, {"/y"})});
        EXPECT_TRUE(has(co_await world.ask(), "oyat: GET https://a.test/x denied by rule default (tenant)"));
        EXPECT_EQ(scene.seen.size(), 1U);
    });
}

// threats E-03: server name, certificate and Host are one.
TEST(TlsReading, AnotherHostThanTheServerNameIsMisdirected) {
    in_scene([](ReadScene& scene) -> Task<> {
        TlsWorld world{scene};
        scene.other_names = {"b.test"};
        for (const char* host : {"b.test", "127.0.0.1", "a.test:1"}) {
            EXPECT_TRUE((co_await world.ask(host)).starts_with("HTTP/1.1 421")) << host;
        }
        EXPECT_TRUE(scene.seen.empty());
        EXPECT_TRUE(scene.log.has("connect.denied", "host-mismatch"));
    });
}

// threats E-18
TEST(TlsReading, SaysWhatIsWrongWithACertificate) {
    in_scene([](ReadScene& scene) -> Task<> {
        TlsWorld world{scene};
        world.show({"b.test"}, kDay);
        EXPECT_TRUE(
            has(co_await world.ask(), "failed: the server's certificate is refused: hostname mismatch"));
        world.show({"a.test"}, -kDay);
        EXPECT_TRUE(has(co_await world.ask(), "certificate has expired"));
        const pki::Authority stranger = pki::Authority::make({.name = "a stranger's"});
        world.show(stranger.issue({"a.test"}, kDay));
        EXPECT_TRUE(has(co_await world.ask(), "unable to get local issuer certificate"));
        EXPECT_TRUE(scene.seen.empty());
        EXPECT_TRUE(scene.log.has("upstream.failed", "certificate is refused"));
    });
}

// A sandbox that trusts an authority of its own changes nothing for us (threats E-19).
TEST(TlsReading, WhatTheSandboxTrustsSaysNothingAboutTheWorld) {
    in_scene([](ReadScene& scene) -> Task<> {
        TlsWorld world{scene};
        world.show(world.authorities.of("acme").issue({"a.test"}, kDay));
        EXPECT_TRUE((co_await world.ask()).starts_with("HTTP/1.1 502"));
    });
}

TEST(TlsReading, AProgramThatPinsCertificatesIsOnTheRecord) {
    in_scene([](ReadScene& scene) -> Task<> {
        TlsWorld world{scene};
        TlsContext pinning = TlsContext::client(world.world.certificate_pem());
        std::optional<Error> refused;
        try {
            (void)co_await http::tls_connect(pinning, scene.program(), "a.test");
        } catch (const Error& error) {
            refused = error;
        }
        EXPECT_TRUE(refused);
        co_await scene.tasks.wait_idle();
        EXPECT_TRUE(scene.log.has("tls.client_rejected_ca", "\"host\":\"a.test\""));
        EXPECT_EQ(scene.connects, 0U);
    });
}

TEST(TlsReading, BodiesPassInBothDirectionsAtOnce) {
    in_scene([](ReadScene& scene) -> Task<> {
        TlsWorld world{scene};
        scene.handler = [](http::Exchange& exchange) -> Task<> {
            co_await exchange.start(200, {}, std::nullopt);
            std::vector<char> buffer(65536);
            while (const std::size_t got = co_await exchange.read_body(buffer)) {
                co_await exchange.write({buffer.data(), got});
            }
            co_await exchange.finish();
        };
        const auto stream = co_await world.program();
        constexpr std::size_t kSize = 8 << 20;
        co_await stream->write_all(
            "POST /x HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\nContent-Length: " +
            std::to_string(kSize) + "\r\n\r\n");
        std::string back;
        co_await race(
            [](Stream& to) -> Task<> {
                co_await to.write_all(std::string(kSize, 'x'));
                Condition never;
                co_await never.wait();
            }(*stream),
            [](Stream& from, std::string& all) -> Task<> { all = co_await http::testing::read_to_end(from); }(
                                                   *stream, back));
        EXPECT_EQ(std::ranges::count(back, 'x'), static_cast<std::ptrdiff_t>(kSize));
    });
}

TEST(TenantAuthorities, ARestartFindsWhatSandboxesTrust) {
    std::string directory = "/tmp/oyat-authorities-XXXXXX";
    ASSERT_NE(::mkdtemp(directory.data()), nullptr);
    const std::filesystem::path place = std::filesystem::path{directory} / "authorities";
    const std::string first = TenantAuthorities{place}.of("../acme").certificate_pem();
    EXPECT_EQ(TenantAuthorities{place}.of("../acme").certificate_pem(), first);
    EXPECT_NE(TenantAuthorities{place}.of("other").certificate_pem(), first);
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator{place}) {
        struct stat facts{};
        ::stat(entry.path().c_str(), &facts);
        EXPECT_EQ(facts.st_mode & 0777, 0600U) << entry.path();
        ++files;
    }
    EXPECT_EQ(files, 2);  // whatever the tenant is called, it stays in the directory
    std::filesystem::remove_all(directory);
}

TEST(HostCertificates, AreMadeOnceForEachHostAndTenant) {
    SystemClock clock;
    TenantAuthorities authorities{{}};
    HostCertificates certificates{authorities, clock};
    const auto first = certificates.of("acme", "a.test");
    EXPECT_EQ(certificates.of("acme", "a.test"), first);
    EXPECT_NE(certificates.of("acme", "b.test"), first);
    EXPECT_NE(certificates.of("other", "a.test"), first);
    for (int i = 0; i < 600; ++i) (void)certificates.of("acme", "h" + std::to_string(i) + ".test");
    EXPECT_NE(certificates.of("acme", "a.test"), first);  // the oldest made room
}

}  // namespace
}  // namespace oyat::egress
