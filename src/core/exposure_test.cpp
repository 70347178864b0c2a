#include "core/exposure.hpp"

#include <gtest/gtest.h>

#include "base/throwing.hpp"

namespace oyat::core {
namespace {

using namespace std::chrono_literals;

const WallTime kNow = from_unix_millis(1'800'000'000'000);
const std::string kSandbox = "i0a1b2c3d4e5f6a7b8c9d";

Exposure exposed(Reach reach) {
    return {.usual = Reach::anyone, .ports = {{3000, reach}}, .token = "a token", .host_mask = ""};
}

bool admits(Reach reach, const Credentials& credentials, std::uint16_t port = 3000) {
    return admit(exposed(reach), kSandbox, port, credentials, kNow).granted;
}

TEST(Exposure, EachReachLetsInThoseBeforeIt) {
    const std::string link = sign_link(exposed(Reach::link), kSandbox, 3000, kNow + 1h);
    EXPECT_FALSE(admits(Reach::closed, {.token = "a token", .link = link}));
    EXPECT_TRUE(admits(Reach::token, {.token = "a token"}));
    EXPECT_FALSE(admits(Reach::token, {.link = link}));
    EXPECT_FALSE(admits(Reach::token, {}));
    EXPECT_TRUE(admits(Reach::link, {.token = "a token"}));
    EXPECT_TRUE(admits(Reach::link, {.link = link}));
    EXPECT_FALSE(admits(Reach::link, {}));
    EXPECT_TRUE(admits(Reach::anyone, {}));
    EXPECT_TRUE(admits(Reach::closed, {}, 3001)) << "the word is for its own port";
}

TEST(Exposure, NoPortIsWiderThanTheOperatorLets) {
    Exposure exposure = exposed(Reach::anyone);
    exposure.most = Reach::token;
    EXPECT_EQ(exposure.of(3000), Reach::token);
    EXPECT_EQ(exposure.otherwise(), Reach::token);
    const std::string link = sign_link(exposure, kSandbox, 3000, kNow + 1h);
    for (const std::uint16_t port : {3000, 3001}) {
        EXPECT_FALSE(admit(exposure, kSandbox, port, {}, kNow).granted) << port;
        EXPECT_FALSE(admit(exposure, kSandbox, port, {.link = link}, kNow).granted) << port;
        EXPECT_TRUE(admit(exposure, kSandbox, port, {.token = "a token"}, kNow).granted) << port;
    }
    exposure.ports[3002] = Reach::closed;
    EXPECT_EQ(exposure.of(3002), Reach::closed);
    // What was said is kept for a server that lets more.
    EXPECT_EQ(or_throw(exposure_from_json(to_json(exposure))).of(3000), Reach::anyone);
    EXPECT_EQ(exposure.in_force().ports.at(3000), Reach::token);
}

TEST(Exposure, AWrongTokenIsWrongWhateverElseThereIs) {
    const std::string link = sign_link(exposed(Reach::link), kSandbox, 3000, kNow + 1h);
    for (const char* wrong : {"", "a toke", "a token ", "A token"}) {
        EXPECT_FALSE(admits(Reach::token, {.token = wrong})) << wrong;
        EXPECT_FALSE(admits(Reach::link, {.token = wrong, .link = link})) << wrong;
    }
}

TEST(Exposure, ASandboxWithoutATokenAdmitsNobodyByOne) {
    Exposure exposure = exposed(Reach::link);
    const std::string link = sign_link(exposure, kSandbox, 3000, kNow + 1h);
    exposure.token.clear();
    EXPECT_FALSE(admit(exposure, kSandbox, 3000, {.token = ""}, kNow).granted);
    EXPECT_FALSE(
        admit(exposure, kSandbox, 3000, {.link = sign_link(exposure, kSandbox, 3000, kNow + 1h)}, kNow)
            .granted);
}

TEST(Exposure, ALinkIsForOnePortOfOneSandboxAndATime) {
    const Exposure exposure = exposed(Reach::link);
    const auto admits_by = [&](const std::string& link, WallTime now = kNow) {
        return admit(exposure, kSandbox, 3000, {.link = link}, now).granted;
    };
    const std::string good = sign_link(exposure, kSandbox, 3000, kNow + 1h);
    EXPECT_TRUE(admits_by(good));
    EXPECT_TRUE(admits_by(good, kNow + 59min));
    EXPECT_FALSE(admits_by(good, kNow + 1h));
    EXPECT_FALSE(admits_by(sign_link(exposure, kSandbox, 3001, kNow + 1h)));
    EXPECT_FALSE(admits_by(sign_link(exposure, "iother", 3000, kNow + 1h)));
    Exposure other = exposure;
    other.token = "another token";
    EXPECT_FALSE(admits_by(sign_link(other, kSandbox, 3000, kNow + 1h)));
    // Later than signed.
    EXPECT_FALSE(admits_by(std::to_string(unix_millis(kNow + 2h) / 1000) + good.substr(good.find('.'))));
    for (const char* nonsense : {"", ".", "1", "-1.aa", "99999999999999999999.aa", "+1.a", "1e9.a"}) {
        EXPECT_FALSE(admits_by(nonsense)) << nonsense;
    }
}

TEST(Exposure, IsPartOfTheRecord) {
    Exposure exposure = exposed(Reach::link);
    exposure.usual = Reach::token;
    exposure.host_mask = "app.example:${PORT}";
    const Exposure again = or_throw(exposure_from_json(to_json(exposure)));
    EXPECT_EQ(again.usual, Reach::token);
    EXPECT_EQ(again.ports, exposure.ports);
    EXPECT_EQ(again.token, "a token");
    EXPECT_EQ(again.masked_host(3000), "app.example:3000");
    EXPECT_FALSE(exposure_from_json({{"usual", "everybody"}}));
    EXPECT_FALSE(exposure_from_json({{"ports", {{"70000", "closed"}}}}));
    EXPECT_FALSE(exposure_from_json({{"ports", {{"80", 1}}}}));
}

}  // namespace
}  // namespace oyat::core
