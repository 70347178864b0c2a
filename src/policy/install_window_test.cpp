#include "policy/install_window.hpp"

#include <gtest/gtest.h>

#include "base/throwing.hpp"

namespace oyat::policy {
namespace {

const Vocabulary kWords;

LayerDocument layer(Layer of, std::string_view json) {
    return {.layer = of,
            .document = std::make_shared<const Document>(or_throw(document_from_json(json, kWords)))};
}
constexpr std::string_view kOwnRegistry =
    R"({"default":"allow","rule":[{"id":"own","category":"package-registries","action":"allow",
        "host":["packages.example"]}]})";

// Which rule decides for a host by TLS while packages are installed.
std::string decided(std::vector<LayerDocument> layers, std::string_view host, bool* allowed = nullptr) {
    Policy policy;
    policy.install_window = install_window(layers, kWords);
    policy.layers = std::move(layers);
    const Attempt attempt{.address = *IpAddress::parse("203.0.113.9"),
                          .port = 443,
                          .name = std::string{host},
                          .strength = Strength::sni_pin,
                          .protocol = Protocol::tls,
                          .final = true};
    const Decision decision = decide(policy, attempt, WallTime{});
    if (allowed != nullptr) *allowed = decision.allows();
    return std::string{decision.rule};
}

TEST(InstallWindow, IsOpenOnlyWhereALayerWantsIt) {
    EXPECT_FALSE(install_window(std::vector{layer(Layer::server, R"({"default":"allow"})")}, kWords));
    const std::vector both{layer(Layer::server, R"({"default":"allow"})"),
                           layer(Layer::tenant, R"({"default":"allow","install_window":true})")};
    EXPECT_EQ(install_window(both, kWords)->layer, Layer::tenant);
}

TEST(InstallWindow, LeavesRegistriesAndNothingElse) {
    const std::vector layers{layer(Layer::server, R"({"default":"allow","install_window":true})")};
    bool allowed = false;
    (void)decided(layers, "pypi.org", &allowed);
    EXPECT_TRUE(allowed);
    EXPECT_EQ(decided(layers, "evil.example", &allowed), "install-window");
    EXPECT_FALSE(allowed);
}

TEST(InstallWindow, OwnRegistriesAreThoseOfRulesFromTheLayerThatWantsItAndAbove) {
    const auto wanting = layer(Layer::tenant, R"({"default":"allow","install_window":true})");
    bool allowed = false;
    EXPECT_EQ(decided({layer(Layer::server, kOwnRegistry), wanting}, "packages.example", &allowed),
              "default");
    EXPECT_TRUE(allowed);
    // Who is below could call anything a registry.
    EXPECT_EQ(decided({wanting, layer(Layer::sandbox, kOwnRegistry)}, "packages.example"), "install-window");
}

TEST(InstallWindow, OpensNothingThatTheLayersRefuse) {
    bool allowed = true;
    (void)decided({layer(Layer::server, R"({"default":"deny","install_window":true})")}, "pypi.org",
                  &allowed);
    EXPECT_FALSE(allowed);
}

TEST(InstallWindow, IsTrueOrFalse) {
    const auto read = document_from_json(R"({"default":"allow","install_window":"yes"})", kWords);
    ASSERT_FALSE(read);
    EXPECT_TRUE(read.error().message().ends_with("install_window: true or false is expected"));
}

}  // namespace
}  // namespace oyat::policy
