#include "api/e2b/header_rules.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/error.hpp"

namespace oyat::e2b {
namespace {

std::vector<core::SecretBinding> read(std::string_view text) {
    const boost::json::value json = boost::json::parse(text);
    return read_header_rules(rpc::Message{json.get_object()});
}

TEST(HeaderRules, BecomeFieldsThatAreSetOutside) {
    const auto bindings = read(R"({"rules":{"api.example":[{"transform":{"headers":{
        "Authorization":"Bearer ${e2b.secrets.key1}","X-Trace":"{1}"}}}],"empty.example":[]}})");
    ASSERT_EQ(bindings.size(), 2u);
    EXPECT_EQ(bindings[0].hosts, (std::vector<std::string>{"api.example"}));
    EXPECT_EQ(bindings[0].place, core::SecretPlace::set_header);
    EXPECT_EQ(bindings[0].format, "Bearer {secret:key1}");
    EXPECT_EQ(bindings[1].format, "{{1}}");
    EXPECT_TRUE(read("{}").empty());
}

TEST(HeaderRules, AreShownWithoutWhatSomebodyWroteIntoThemPlainly) {
    const auto bindings = read(R"({"rules":{"api.example":[{"transform":{"headers":{
        "Authorization":"Bearer ${e2b.secrets.key1} {x}","X-Plain":"a password"}}}],
        "b.example":[{"transform":{"headers":{"X-Id":"${e2b.identity.tokens.aws}"}}}]}})");
    EXPECT_EQ(boost::json::serialize(header_rules_view(bindings)),
              R"({"api.example":[{"transform":{"headers":{"Authorization":"Bearer ${e2b.secrets.key1} {x}",)"
              R"("X-Plain":"***"}}}],)"
              R"("b.example":[{"transform":{"headers":{"X-Id":"${e2b.identity.tokens.aws}"}}}]})");
    EXPECT_TRUE(header_rules_view({}).empty());
    const auto elsewhere = read(R"({"rules":{"a.example:8443":[{"transform":{"headers":{"X":"y"}}}]}})");
    EXPECT_EQ(elsewhere[0].hosts, (std::vector<std::string>{"a.example"}));
    EXPECT_EQ(elsewhere[0].ports, (std::vector<std::uint16_t>{8443}));
    EXPECT_TRUE(header_rules_view(elsewhere).contains("a.example:8443"));
}

TEST(HeaderRules, NameSecretsAndIdentities) {
    EXPECT_EQ(format_of_template("${e2b.secrets.a}:${e2b.identity.tokens.aws} $5 ${HOME}"),
              "{secret:a}:{token:aws} $5 ${{HOME}}");
    for (const char* text : {"${e2b.secrets.a", "${e2b.other.a}"}) {
        EXPECT_THROW((void)format_of_template(text), Error) << text;
    }
}

TEST(HeaderRules, RefuseWhatIsOverTheProtocolsLimits) {
    const std::string long_value(2049, 'x');
    for (const std::string& text :
         {std::string{R"({"rules":{"a":[{},{}]}})"}, std::string{R"({"rules":{"a":{}}})"},
          R"({"rules":{"a":[{"transform":{"headers":{"X":")" + long_value + R"("}}}]}})",
          R"({"rules":{")" + std::string(129, 'a') + R"(":[]}})",
          std::string{R"({"rules":{"a:0":[{"transform":{"headers":{"X":"y"}}}]}})"},
          std::string{R"({"rules":{"a":[{"transform":{"headers":{"X":1}}}]}})"}}) {
        EXPECT_THROW((void)read(text), Error) << text.substr(0, 60);
    }
}

TEST(IdentityTokens, HaveAnAudience) {
    const boost::json::value json =
        boost::json::parse(R"({"iam":{"tokens":{"aws":{"audience":"sts.example","tokenType":"JWT-SVID"}}}})");
    EXPECT_EQ(read_identity_tokens(rpc::Message{json.get_object()}).at("aws").audience, "sts.example");
    const boost::json::value other = boost::json::parse(R"({"iam":{"tokens":{"aws":{"tokenType":"X509"}}}})");
    EXPECT_THROW((void)read_identity_tokens(rpc::Message{other.get_object()}), Error);
}

}  // namespace
}  // namespace oyat::e2b
