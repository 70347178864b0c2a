#include "core/trusted_authority.hpp"

#include <boost/json/parse.hpp>

#include "core/test_house.hpp"

namespace oyat::core {
namespace {

constexpr const char* kBundle = "/etc/ssl/certs/ca-certificates.crt";
constexpr const char* kAuthority = "authority of default\n";

boost::json::object reads_requests() {
    return boost::json::
        parse(R"({"preset":"public-web","rule":[{"id":"one","action":"allow","host":["a.test"],"path":["/x"]}]})")
            .get_object();
}

TEST(TrustedAuthority, NothingInsideChangesWhileNoConnectionIsRead) {
    in_house([](House& house) -> Task<> {
        const std::string id = (co_await house.create())->record().id;
        EXPECT_TRUE(house.keeper.inside(id).files.empty());
        EXPECT_FALSE(house.keeper.inside(id).setup->env.contains("SSL_CERT_FILE"));
    });
}

TEST(TrustedAuthority, ProgramsTrustItFromTheMomentARuleReadsRequests) {
    in_house([](House& house) -> Task<> {
        const std::string id = (co_await house.create())->record().id;
        FakeInside& there = house.keeper.inside(id);
        there.files[kBundle] = "the image's";
        co_await house.sandboxes->set_policy(id, {.document = reads_requests()}, House::somebody());
        EXPECT_EQ(there.files[kBundle], "the image's\n" + std::string{kAuthority});
        EXPECT_EQ(there.files["/usr/local/share/ca-certificates/oyat-authority.crt"], kAuthority);
        EXPECT_EQ(there.setup->env.at("SSL_CERT_FILE"), kBundle);
        EXPECT_EQ(there.setup->env.at("NODE_EXTRA_CA_CERTS"), "/run/oyat/authority.pem");
    });
}

TEST(TrustedAuthority, IsThereBeforeTheFirstCommandOfASandboxThatIsMadeWithSuchARule) {
    in_house([](House& house) -> Task<> {
        const std::string id = (co_await house.create({.policy = reads_requests()}))->record().id;
        EXPECT_EQ(house.keeper.inside(id).files["/run/oyat/authority.pem"], kAuthority);
        EXPECT_TRUE(house.keeper.inside(id).setup->env.contains("CURL_CA_BUNDLE"));
    });
}

TEST(TrustedAuthority, AVariableOfTheUsersStays) {
    in_house([](House& house) -> Task<> {
        const std::string id =
            (co_await house.create({.env = {{"SSL_CERT_FILE", "/mine"}}, .policy = reads_requests()}))
                ->record()
                .id;
        EXPECT_EQ(house.keeper.inside(id).setup->env.at("SSL_CERT_FILE"), "/mine");
    });
}

}  // namespace
}  // namespace oyat::core
