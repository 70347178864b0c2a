#include "api/e2b/create_request.hpp"

#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

#include "api/e2b/network_options.hpp"
#include "base/throwing.hpp"
#include "rpc/message.hpp"

namespace oyat::e2b {
namespace {

using std::chrono::seconds;

Result<core::CreateRequest> read(std::string_view body, CreateForm form = CreateForm::v2) {
    return read_create_request(or_throw(rpc::parse_object(body)), form,
                               Settings{.domain = "", .longest_run = seconds{3600}});
}

std::string refusal(std::string_view body, CreateForm form = CreateForm::v2) {
    const Result<core::CreateRequest> request = read(body, form);
    return request ? "accepted" : request.error().message();
}

TEST(CreateRequest, ATemplateIsEnough) {
    const core::CreateRequest request = read(R"({"templateID":"base"})").value();
    EXPECT_EQ(request.template_ref, "base");
    EXPECT_EQ(request.timeout, seconds{300});
    EXPECT_TRUE(request.internet);
    EXPECT_TRUE(request.secure);
    EXPECT_EQ(request.on_timeout, core::OnTimeout::kill);
}

TEST(CreateRequest, TheOlderFormHasAnotherLifeAndMayBeOpen) {
    EXPECT_EQ(read(R"({"templateID":"b"})", CreateForm::v1).value().timeout, seconds{15});
    EXPECT_TRUE(read(R"({"templateID":"b"})", CreateForm::v1).value().secure);
    EXPECT_FALSE(read(R"({"templateID":"b","secure":false})", CreateForm::v1).value().secure);
    EXPECT_TRUE(read(R"({"templateID":"b","secure":false})", CreateForm::v2).value().secure);
}

TEST(CreateRequest, TakesWhatTheClientsSend) {
    const core::CreateRequest request = read(R"({"templateID":"base:v1","timeout":60,"metadata":{"job":"42"},
        "envVars":{"TOKEN":"a\nb"},"allow_internet_access":false,"autoPause":true,"autoPauseMemory":true,
        "autoResume":{"enabled":true},"mcp":{"x":{}},"network":{"allowPublicTraffic":true},"volumeMounts":[],
        "iam":{"tokens":{}},"something_new":1})")
                                            .value();
    EXPECT_EQ(request.timeout, seconds{60});
    EXPECT_EQ(request.metadata.at("job"), "42");
    EXPECT_EQ(request.env.at("TOKEN"), "a\nb");
    EXPECT_EQ(boost::json::serialize(request.policy.value()), R"({"preset":"offline"})");
    EXPECT_EQ(request.on_timeout, core::OnTimeout::pause);
    EXPECT_TRUE(request.auto_resume);
}

TEST(CreateRequest, SaysWhoMayReachItsPortsAndUnderWhichName) {
    EXPECT_EQ(read(R"({"templateID":"b"})").value().usual_reach, core::Reach::anyone);
    const auto closed =
        read(R"({"templateID":"b","network":{"allowPublicTraffic":false,"maskRequestHost":"app:${PORT}"}})");
    ASSERT_TRUE(closed);
    EXPECT_EQ(closed->usual_reach, core::Reach::token);
    EXPECT_EQ(closed->host_mask, "app:${PORT}");
}

TEST(CreateRequest, DenyingEverythingIsNoInternet) {
    const auto policy = [](std::string_view options) {
        const auto request = read(R"({"templateID":"b",)" + std::string{options} + "}").value();
        return request.policy ? boost::json::serialize(*request.policy) : "none";
    };
    EXPECT_EQ(policy(R"("network":{"denyOut":["0.0.0.0/0"]})"), R"({"preset":"offline"})");
    EXPECT_EQ(policy(R"("allow_internet_access":false)"), R"({"preset":"offline"})");
    EXPECT_EQ(policy(R"("network":{"denyOut":[],"allowOut":["203.0.113.7"]})"), "none");
}

TEST(CreateRequest, AllowListsStandBeforeDenyLists) {
    const auto request = read(R"({"templateID":"b","allow_internet_access":false,"network":{
        "allowOut":["api.example","203.0.113.7","10.1.2.3/8"]}})")
                             .value();
    EXPECT_EQ(boost::json::serialize(request.policy.value()),
              R"({"default":"allow","rule":[)"
              R"({"id":"allowOut-tls","action":"allow","host":["api.example"],"port":443,"protocol":"tls"},)"
              R"({"id":"allowOut-http","action":"allow","host":["api.example"],"port":80,"protocol":"http"},)"
              R"({"id":"allowOut","action":"allow","cidr":["203.0.113.7","10.0.0.0/8"]},)"
              R"({"id":"denyOut","action":"deny","cidr":["0.0.0.0/0"]}]})");
    EXPECT_EQ(boost::json::serialize(lists_of(boost::json::serialize(*request.policy))),
              R"({"allowOut":["api.example","203.0.113.7","10.0.0.0/8"],"denyOut":["0.0.0.0/0"]})");
}

TEST(CreateRequest, ServersOfNamesStandOpenWhereDomainsAreAllowed) {
    const auto request = read(R"({"templateID":"b","network":{"allowOut":["api.example"],
        "denyOut":["0.0.0.0/0"],"dnsServers":["192.0.2.53"]}})")
                             .value();
    const boost::json::object lists = lists_of(boost::json::serialize(request.policy.value()));
    EXPECT_EQ(boost::json::serialize(lists.at("dnsServers")), R"(["192.0.2.53"])");
    EXPECT_FALSE(read(R"({"templateID":"b","network":{"dnsServers":["192.0.2.53"]}})")->policy);
}

TEST(CreateRequest, PortsThatSpeakTlsAreTaken) {
    const auto request = read(R"({"templateID":"b","network":{"httpsPorts":[8443,443]}})").value();
    EXPECT_EQ(request.tls_ports, (std::set<std::uint16_t>{443, 8443}));
}

TEST(CreateRequest, AProxyOutsideIsTaken) {
    const auto request = read(R"({"templateID":"b","network":{"egressProxy":
        {"address":"p.example:1080","username":"u","password":"hush"}}})")
                             .value();
    EXPECT_EQ(request.via->host, "p.example");
    EXPECT_EQ(request.via->port, 1080);
    EXPECT_EQ(request.via->password, "hush");
}

TEST(CreateRequest, ALifeMustFitARun) {
    for (const char* timeout :
         {"0", "-1", "3601", "1.5", "\"60\"", "true", "9007199254740993", "1e3", "[]"}) {
        EXPECT_NE(refusal(std::string{R"({"templateID":"b","timeout":)"} + timeout + "}"), "accepted")
            << timeout;
    }
    EXPECT_EQ(refusal(R"({"templateID":"b","timeout":3600})"), "accepted");
}

TEST(CreateRequest, OptionsOfALaterReleaseAreRefusedByName) {
    const std::pair<const char*, const char*> options[] = {
        {R"("network":{"egressProxy":{"address":"p.example:1","tls":{"enabled":true}}})",
         "network.egressProxy.tls"},
        {R"("volumeMounts":[{"name":"d","path":"/d"}])", "volumeMounts"},
    };
    for (const auto& [option, name] : options) {
        EXPECT_EQ(refusal(std::string{R"({"templateID":"b",)"} + option + "}"),
                  "'" + std::string{name} + "' is not available in this release");
    }
}

TEST(CreateRequest, BrokenOptionsAreRefusedAsSuch) {
    const char* options[] = {
        R"("metadata":[])",
        R"("metadata":{"a":1})",
        R"("envVars":{"A=B":"x"})",
        R"("envVars":{"":"x"})",
        R"("envVars":{"A":"x\u0000y"})",
        R"("autoPauseMemory":false)",
        R"("autoPause":true,"autoPauseMemory":false,"autoResume":{"enabled":true})",
        R"("network":{"denyOut":["example.org"]})",
        R"("network":{"denyOut":["10.0.0.0/33"]})",
        R"("network":{"allowOut":["example.org"]})",
        R"("network":{"maskRequestHost":"h\u00f6st /"})",
        R"("network":{"maskRequestHost":"a b"})",
        R"("network":{"maskRequestHost":"a\r\nX: y"})",
        R"("network":{"maskRequestHost":"${PORT}:${PORT}x"})",
        R"("network":{"denyOut":["0.0.0.0/0"],"allowOut":["exa mple"]})",
        R"("network":{"egressProxy":{"address":"p"}})",
        R"("network":{"egressProxy":{"address":"p.example:0"}})",
        R"("network":{"egressProxy":{"address":"p.example:1","password":"x"}})",
        R"("network":{"httpsPorts":[49983]})",
        R"("network":{"httpsPorts":[65536]})",
        R"("network":{"httpsPorts":[0]})",
        R"("network":{"dnsServers":["ns.example"]})",
        R"("network":{"dnsServers":["2001:db8::53"]})",
        R"("iam":{"tokens":{"a":{},"b":{},"c":{},"d":{},"e":{},"f":{}}})",
    };
    for (const char* option : options) {
        const std::string sentence = refusal(std::string{R"({"templateID":"b",)"} + option + "}");
        EXPECT_NE(sentence, "accepted") << option;
        EXPECT_EQ(sentence.find("not available"), std::string::npos) << option;
    }
    EXPECT_NE(refusal("{}"), "accepted");
    EXPECT_NE(refusal(R"({"templateID":7})"), "accepted");
    EXPECT_EQ(refusal(R"({"templateID":"b","secure":false,"network":{"allowPublicTraffic":false}})",
                      CreateForm::v1),
              "'network.allowPublicTraffic': false needs 'secure'");
}

}  // namespace
}  // namespace oyat::e2b
