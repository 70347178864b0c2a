#include "policy/document.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/throwing.hpp"
#include "policy/policy.hpp"
#include "policy/vocabulary.hpp"

namespace oyat::policy {
namespace {

const Vocabulary kWords;

Document json(std::string_view text) {
    return or_throw(document_from_json(text, kWords));
}
Document toml(std::string_view text) {
    return or_throw(document_from_toml(text, kWords));
}
std::string refusal(std::string_view text) {
    const Result<Document> read = document_from_json(text, kWords);
    return read ? "accepted" : read.error().message();
}
// The refusal of a document with this one rule.
std::string rule_refusal(std::string_view fields) {
    return refusal(R"({"default":"deny","rule":[{"id":"a","action":"allow",)" + std::string{fields} + "}]}");
}

TEST(PolicyDocument, JsonAndTomlSayTheSame) {
    const Document from_json = json(R"({"default":"deny","bypass":["pinned.test"],"rule":[
        {"id":"orders","category":"internal-apis","action":"allow","host":["orders.test"],"cidr":["10.20.0.0/16"],
         "port":[8443,"3000-3999"],"protocol":"https","method":["GET"],"path":["/v2/orders/**"],
         "require":"authority","up_bytes":"20MiB","down_bytes":1024,"connections":16,"rps":20,
         "expires":"2026-12-01T00:00:00Z","note":"ticket 4711"}]})");
    const Document from_toml = toml(R"(
default = "deny"
bypass = ["pinned.test"]
[[rule]]
id = "orders"
category = "internal-apis"
action = "allow"
host = "orders.test"
cidr = "10.20.0.0/16"
port = [8443, "3000-3999"]
protocol = "https"
method = "GET"
path = "/v2/orders/**"
require = "authority"
up_bytes = "20MiB"
down_bytes = 1024
connections = 16
rps = 20
expires = 2026-12-01T00:00:00Z
note = "ticket 4711"
)");
    for (const Document& document : {from_json, from_toml}) {
        ASSERT_EQ(document.rules.size(), 1u);
        const Rule& rule = document.rules.front();
        EXPECT_EQ(rule.category, "internal-apis");
        EXPECT_TRUE(rule.ports.at(1).contains(3500));
        EXPECT_EQ(rule.up_bytes, 20u << 20);
        EXPECT_EQ(rule.down_bytes, 1024u);
        EXPECT_EQ(to_rfc3339(rule.expires.value()), "2026-12-01T00:00:00.000Z");
        EXPECT_EQ(rule.require, Strength::authority);
        EXPECT_EQ(rule.paths.at(0).text(), "/v2/orders/**");
        EXPECT_EQ(document.fallback, Action::deny);
        EXPECT_TRUE(matches_any(document.bypass, "pinned.test"));
    }
}

TEST(PolicyDocument, ComesBackAsItWasWritten) {
    const std::string text =
        R"({"preset":"packages-only","rule":[{"id":"a","action":"deny","host":["@git-hosts","bücher.test"]}]})";
    const Document document = json(text);
    EXPECT_EQ(boost::json::serialize(to_json(document)), text);
    EXPECT_EQ(or_throw(document_from(to_json(document), kWords)).rules.size(), document.rules.size());
}

TEST(PolicyDocument, AnEmptyOneIsRefusedWithAWayOut) {
    EXPECT_EQ(refusal("{}"), "empty policy; say default = \"deny\" or \"allow\"");
    EXPECT_EQ(refusal(R"({"rule":[]})"), "default: is missing; say default = \"deny\" or \"allow\"");
    EXPECT_EQ(refusal(R"({"preset":"custom"})"), "default: is missing; say default = \"deny\" or \"allow\"");
    EXPECT_EQ(document_from_toml("", kWords).error().message(),
              "empty policy; say default = \"deny\" or \"allow\"");
}

TEST(PolicyDocument, AMistakeIsShownWhereItStands) {
    EXPECT_EQ(refusal("{\"default\": \"deny\",\n \"rule\": [\n  {\"id\": \"a\", \"action\": \"allow\", "
                      "\"hots\": [\"x\"]}]}"),
              "line 3, column 42: rule[0].hots: no such field");
    EXPECT_EQ(refusal("{\"default\":\n  \"maybe\"}"),
              "line 2, column 3: default: 'maybe' is not one of allow, observe, ask, deny");
    EXPECT_EQ(document_from_toml(
                  "default = \"deny\"\n[[rule]]\nid = \"a\"\naction = \"allow\"\nhost = [\"b\", \"A..b\"]\n",
                  kWords)
                  .error()
                  .message(),
              "line 5, column 14: rule[0].host[1]: 'A..b' is not a host: write a name, *.NAME, **.NAME or *");
    EXPECT_TRUE(refusal("{\"default\": \"deny\",\n}").starts_with("line 2, column 1: "))
        << refusal("{\"default\": \"deny\",\n}");
    EXPECT_TRUE(document_from_toml("default = \n", kWords).error().message().starts_with("line 1, column "));
}

TEST(PolicyDocument, ANameThatStandsTwiceIsRefused) {
    EXPECT_EQ(refusal(R"({"default":"deny","default":"allow"})"),
              "line 1, column 29: 'default' stands twice");
    EXPECT_NE(refusal(R"({"default":"deny","d\u0065fault":"allow"})"), "accepted");
    EXPECT_NE(refusal(R"({"default":"deny","rule":[{"id":"a","action":"deny"},{"id":"a","action":"deny"}]})"),
              "accepted");
    EXPECT_FALSE(document_from_toml("default = \"deny\"\ndefault = \"allow\"\n", kWords));
}

TEST(PolicyDocument, RefusesWhatItWouldNotEnforce) {
    for (const char* fields : {R"("protocol":"udp")",
                               R"("host":["a b"])",
                               R"("host":["127.1"])",
                               R"("host":[])",
                               R"("host":7)",
                               R"("host":["@nothing"])",
                               R"("cidr":["10.0.0.1/8"])",
                               R"("cidr":["10.0.0.0/33"])",
                               R"("port":[0])",
                               R"("port":[65536])",
                               R"("port":["9-1"])",
                               R"("port":["1-"])",
                               R"("port":["-"])",
                               R"("port":[1.5])",
                               R"("method":["get"])",
                               R"("path":["x"])",
                               R"("path":["/@nothing"])",
                               R"("require":"much")",
                               R"("up_bytes":"20 MB")",
                               R"("up_bytes":0)",
                               R"("up_bytes":-1)",
                               R"("rps":0)",
                               R"("connections":"many")",
                               R"("expires":"tomorrow")",
                               R"("category":"games")",
                               R"("protocol":"tcp","method":["GET"])",
                               R"("note":{})",
                               R"("action":"deny")"}) {
        EXPECT_NE(rule_refusal(fields), "accepted") << fields;
    }
    for (const char* text :
         {R"([])", R"(7)", R"({"default":"deny","preset":"none"})", R"({"default":"deny","rule":{}})",
          R"({"default":"deny","rule":[7]})", R"({"default":"deny","rule":[{"id":"a"}]})",
          R"({"default":"deny","rule":[{"action":"deny"}]})", R"({"default":"deny","write_methods":"allow"})",
          R"({"default":"deny"} x)"}) {
        EXPECT_NE(refusal(text), "accepted") << text;
    }
}

TEST(PolicyDocument, RequestsOfABypassedHostAreNotRead) {
    const auto with_bypass = [](std::string_view bypass) {
        return refusal(R"({"default":"deny","bypass":[")" + std::string{bypass} +
                       R"("],"rule":[{"id":"a","action":"allow","host":["api.test"],"path":["/v1/**"]}]})");
    };
    EXPECT_EQ(with_bypass("other.test"), "accepted");
    EXPECT_NE(with_bypass("api.test"), "accepted");
    EXPECT_NE(with_bypass("*.test"), "accepted");
}

TEST(PolicyDocument, HasItsBounds) {
    std::string rules;
    for (std::size_t at = 0; at <= Document::kMaxRules; ++at)
        rules += R"({"id":"r)" + std::to_string(at) + R"(","action":"deny","port":[1]},)";
    rules.pop_back();
    EXPECT_EQ(refusal(R"({"default":"deny","rule":[)" + rules + "]}"),
              "line 1, column 26: rule: 513 rules; a document holds at most 512");
    EXPECT_EQ(refusal(std::string(65 * 1024, ' ')), "a policy of 66560 bytes; at most 64 KiB");
    std::string paths;
    for (std::size_t at = 0; at <= Document::kMaxPaths; ++at) paths += R"("/",)";
    paths.pop_back();
    EXPECT_NE(rule_refusal(R"("path":[)" + paths + "]"), "accepted");
    EXPECT_NE(refusal(std::string(10'000, '[')), "accepted");
}

TEST(PolicyDocument, TakesNamesOfOtherAlphabets) {
    const Document document =
        json(R"({"default":"deny","rule":[{"id":"a","action":"allow","host":["*.bücher.test"]}]})");
    EXPECT_EQ(document.rules.front().hosts.front().text(), "*.xn--bcher-kva.test");
}

TEST(PolicyDocument, ASectionOfAnotherFileIsReadAlone) {
    const std::string_view file = "listen = \"x\"\n[egress]\nreachable_private = []\npreset = \"offline\"\n";
    EXPECT_EQ(or_throw(document_from_section(file, "egress", kWords))->preset, "offline");
    EXPECT_FALSE(or_throw(document_from_section("[egress]\nreachable_private = []\n", "egress", kWords)));
    EXPECT_FALSE(or_throw(document_from_section("", "egress", kWords)));
    EXPECT_EQ(document_from_section("[egress]\n\npreset = \"of\"\n", "egress", kWords)
                  .error()
                  .message()
                  .substr(0, 17),
              "line 3, column 10");
}

Decision judge(const Document& document, std::string name, std::uint16_t port,
               const Request* request = nullptr, Protocol protocol = Protocol::tls) {
    Policy policy;
    policy.layers.push_back({Layer::sandbox, std::make_shared<Document>(document)});
    Attempt attempt{.address = IpAddress::v4(0xC6336401),
                    .port = port,
                    .name = std::move(name),
                    .strength = Strength::authority,
                    .protocol = protocol,
                    .request = request};
    return decide(policy, attempt, {});
}

TEST(PolicyPreset, EachOneDoesWhatItsNameSays) {
    const auto allows = [](std::string_view preset, const char* name, std::uint16_t port) {
        return judge(json(R"({"preset":")" + std::string{preset} + R"("})"), name, port).allows();
    };
    EXPECT_FALSE(allows("offline", "pypi.org", 443));
    EXPECT_TRUE(allows("packages-only", "pypi.org", 443));
    EXPECT_FALSE(allows("packages-only", "pypi.org", 22));
    EXPECT_FALSE(allows("packages-only", "example.org", 443));
    EXPECT_TRUE(allows("public-web", "example.org", 443));
    EXPECT_FALSE(allows("public-web", "example.org", 25));
    EXPECT_TRUE(allows("open", "example.org", 25));
}

TEST(PolicyPreset, GitMayBeReadAndNotWritten) {
    const Document document = json(R"({"preset":"git-read-only"})");
    EXPECT_EQ(judge(document, "github.com", 443).need, Need::request);
    for (const auto& [target, passes] : {std::pair{"/acme/shop.git/info/refs?service=git-upload-pack", true},
                                         {"/acme/shop.git/git-upload-pack", true},
                                         {"/acme/shop.git/info/refs?service=git-receive-pack", false},
                                         {"/acme/shop.git/git-receive-pack", false},
                                         {"/acme/shop/archive/main.zip", false}}) {
        const Request request{.method = "POST", .target = CanonicalTarget::of(target)};
        EXPECT_EQ(judge(document, "github.com", 443, &request).allows(), passes) << target;
    }
}

TEST(PolicyPreset, OwnRulesStandBeforeThoseOfThePreset) {
    const Document document = json(
        R"({"preset":"public-web","rule":[{"id":"mail","action":"allow","host":["mx.test"],"port":[25]}]})");
    EXPECT_TRUE(judge(document, "mx.test", 25).allows());
    EXPECT_FALSE(judge(document, "other.test", 25).allows());
}

TEST(PolicyPreset, MirrorsOfTheOperatorCountAsRegistries) {
    OperatorWords added;
    for (const char* url : {"https://user:word@pypi.corp.test/simple", "http://npm.corp.test:4873/",
                            "http://198.51.100.1:8081"})
        added.mirrors.push_back(Mirror::of_url(url).value());
    const Vocabulary words{added};
    const Document document = or_throw(document_from_json(R"({"preset":"packages-only"})", words));
    EXPECT_TRUE(judge(document, "pypi.corp.test", 443).allows());
    EXPECT_TRUE(judge(document, "npm.corp.test", 4873).allows());
    EXPECT_TRUE(judge(document, "", 8081).allows());
    EXPECT_FALSE(judge(document, "", 8082).allows());
    EXPECT_FALSE(judge(document, "npm.corp.test", 22).allows());
    for (const char* url :
         {"", "ftp://a.test/", "https://", "https://a b/", "https://a.test:99999/", "direct"})
        EXPECT_FALSE(Mirror::of_url(url)) << url;
}

TEST(PolicyDocument, WritesAreHeldBackWhereRequestsAreRead) {
    const Document document = json(R"({"preset":"public-web","write_methods":"deny"})");
    EXPECT_TRUE(judge(document, "a.test", 443).allows());  // unread: nobody sees the method
    EXPECT_EQ(judge(document, "a.test", 80, nullptr, Protocol::http).need, Need::request);
    for (const auto& [method, passes] : {std::pair{"GET", true}, {"POST", false}, {"DELETE", false}}) {
        const Request request{.method = method, .target = CanonicalTarget::of("/")};
        EXPECT_EQ(judge(document, "a.test", 443, &request).allows(), passes) << method;
    }
    Policy policy;
    policy.layers.push_back({Layer::sandbox, std::make_shared<Document>(document)});
    EXPECT_TRUE(decide_name(policy, "a.test", {}).allows());
}

TEST(ReadyPolicy, EachOneIsADocument) {
    EXPECT_EQ(ready_policies().size(), 4u);
    for (const ReadyPolicy& ready : ready_policies()) {
        const Result<Document> document = document_from_toml(ready.toml, kWords);
        EXPECT_TRUE(document) << ready.name << ": " << (document ? "" : document.error().message());
    }
}

TEST(HostPattern, CoversWhatItStandsForAndNoMore) {
    const auto covers = [](std::string_view wide, std::string_view narrow) {
        return or_throw(HostPattern::parse(wide)).covers(or_throw(HostPattern::parse(narrow)));
    };
    for (const auto& [wide, narrow] : {std::pair{"*", "*"},
                                       {"*", "**.a.test"},
                                       {"*.test", "a.test"},
                                       {"*.test", "**.a.test"},
                                       {"*.test", "*.a.test"},
                                       {"**.a.test", "a.test"},
                                       {"**.a.test", "*.a.test"},
                                       {"a.test", "a.test"}})
        EXPECT_TRUE(covers(wide, narrow)) << wide << " " << narrow;
    for (const auto& [wide, narrow] : {std::pair{"*.a.test", "a.test"},
                                       {"*.a.test", "**.a.test"},
                                       {"a.test", "*.a.test"},
                                       {"*.a.test", "*.test"},
                                       {"*.a.test", "*"},
                                       {"*.a.test", "*.ba.test"}})
        EXPECT_FALSE(covers(wide, narrow)) << wide << " " << narrow;
}

TEST(PolicyDocument, WhatTheReaderOfTomlTakesForImpossibleIsRefused) {
    for (const std::string_view text : {"\t[#\n", "[#", "[ #", "a.#", "\xef\xbb\xbf", "\xc3\xa9 = 1"}) {
        EXPECT_FALSE(document_from_toml(text, Vocabulary{})) << text;
    }
}

TEST(Document, ARefIsSaidInFull) {
    const auto made = document_from_toml(
        "default = \"deny\"\n[[rule]]\nid = \"push\"\naction = \"allow\"\nref = [\"refs/heads/agent/**\"]\n",
        kWords);
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_TRUE(made->rules.at(0).refs.at(0).matches("refs/heads/agent/a/b"));
    EXPECT_TRUE(made->rules.at(0).reads_requests());
    const auto refused = document_from_toml(
        "default = \"deny\"\n[[rule]]\nid = \"push\"\naction = \"allow\"\nref = \"main\"\n", kWords);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find("refs/heads/"), std::string::npos);
}

}  // namespace
}  // namespace oyat::policy
