#include "api/e2b/destination.hpp"

#include <gtest/gtest.h>

namespace oyat::e2b {
namespace {

http::RequestHead head(std::string host, std::string target = "/x?y=1", http::Fields fields = {}) {
    http::RequestHead head;
    head.method = "GET";
    head.host = std::move(host);
    head.target = std::move(target);
    head.path = std::string{path_of(head.target)};
    head.query = std::string{query_of(head.target)};
    head.fields = std::move(fields);
    return head;
}

std::string show(const Destination& to) {
    if (const auto* port = std::get_if<ToPort>(&to)) {
        return port->sandbox + ":" + std::to_string(port->port) + port->target;
    }
    return std::holds_alternative<ToServer>(to) ? "server" : "contradiction";
}

TEST(Destination, IsTheServerWithoutAnyRoutingInformation) {
    EXPECT_EQ(show(destination_of(head("127.0.0.1"))), "server");
    EXPECT_EQ(show(destination_of(head("my-server.example"))), "server");
    EXPECT_EQ(show(destination_of(head(""))), "server");
}

TEST(Destination, TheHostNamesPortAndSandbox) {
    EXPECT_EQ(show(destination_of(head("3000-iabc1.oyat.example"))), "iabc1:3000/x?y=1");
    EXPECT_EQ(show(destination_of(head("49983-iabc1"))), "iabc1:49983/x?y=1");
}

TEST(Destination, TheHostWinsOverHeaders) {
    const http::Fields fields{{"E2b-Sandbox-Id", "ivictim"}, {"E2b-Sandbox-Port", "80"}};
    EXPECT_EQ(show(destination_of(head("3000-imine.oyat.example", "/", fields))), "imine:3000/");
    const http::Fields torn{{"E2b-Sandbox-Id", "ivictim"}};
    EXPECT_EQ(show(destination_of(head("3000-imine.oyat.example", "/", torn))), "imine:3000/");
}

TEST(Destination, HeadersRouteWhenTheHostDoesNot) {
    EXPECT_EQ(show(destination_of(
                  head("localhost", "/f", {{"e2b-sandbox-id", "iabc"}, {"e2b-sandbox-port", "49983"}}))),
              "iabc:49983/f");
    EXPECT_EQ(show(destination_of(
                  head("h.example", "/f", {{"Novita-Sandbox-Id", "iabc"}, {"Novita-Sandbox-Port", "8080"}}))),
              "iabc:8080/f");
}

TEST(Destination, HeadersThatDoNotFitTogetherAreRefused) {
    const http::Fields one{{"E2b-Sandbox-Id", "iabc"}};
    const http::Fields other{{"E2b-Sandbox-Port", "80"}};
    const http::Fields twice{{"E2b-Sandbox-Id", "ia"}, {"E2b-Sandbox-Id", "ib"}, {"E2b-Sandbox-Port", "80"}};
    const http::Fields odd{{"E2b-Sandbox-Id", "../etc"}, {"E2b-Sandbox-Port", "80"}};
    for (const http::Fields& fields : {one, other, twice, odd}) {
        EXPECT_EQ(show(destination_of(head("127.0.0.1", "/", fields))), "contradiction");
    }
}

TEST(Destination, AllPortsThatAreNoneReadAsZero) {
    EXPECT_EQ(show(destination_of(head("65536-iabc.x", "/"))), "iabc:0/");
    EXPECT_EQ(show(destination_of(head("99999999999999-iabc.x", "/"))), "iabc:0/");
    for (const char* port : {"0", "65536", "-1", "80x", " 80", "+80", "0x50"}) {
        EXPECT_EQ(
            show(destination_of(head("h", "/", {{"E2b-Sandbox-Id", "iabc"}, {"E2b-Sandbox-Port", port}}))),
            "iabc:0/")
            << port;
    }
}

TEST(Destination, AHostLabelThatOnlyLooksSimilarIsOrdinary) {
    for (const char* host : {"3000-", "-iabc.x", "30a0-iabc.x", "3000-ia_bc.x", "3000-ia-bc.x"}) {
        EXPECT_EQ(show(destination_of(head(host))), "server") << host;
    }
}

TEST(Destination, ThePathFormLosesItsPrefix) {
    EXPECT_EQ(show(destination_of(head("h", "/s/iabc/8080/a/b?c=/d"))), "iabc:8080/a/b?c=/d");
    EXPECT_EQ(show(destination_of(head("h", "/s/iabc/8080"))), "iabc:8080/");
    EXPECT_EQ(show(destination_of(head("h", "/s/iabc/8080?q"))), "iabc:8080/?q");
    EXPECT_EQ(show(destination_of(head("h", "/s/iabc"))), "contradiction");
    EXPECT_EQ(show(destination_of(head("h", "/s/i%2fbc/80/"))), "contradiction");
    EXPECT_EQ(show(destination_of(head("h", "/s/iabc/99999/"))), "iabc:0/");
}

}  // namespace
}  // namespace oyat::e2b
