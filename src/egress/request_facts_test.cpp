#include "egress/request_facts.hpp"

#include <gtest/gtest.h>

#include "base/throwing.hpp"

namespace oyat::egress {
namespace {

const IpAddress kThere = IpAddress::v4(0xC0000207);  // 192.0.2.7

http::RequestHead head_of(const std::string& fields, const std::string& line = "GET /x") {
    return or_throw(http::parse_request_head(line + " HTTP/1.1\r\n" + fields + "\r\n")).head;
}

std::string host_in(const std::string& value) {
    return named_host(head_of("Host: " + value + "\r\n"), kThere, 8080).value_or("refused");
}

TEST(RequestFacts, AHostIsACanonicalNameOrTheVeryAddress) {
    EXPECT_EQ(host_in("A.Test"), "a.test");
    EXPECT_EQ(host_in("a.test.:8080"), "a.test");
    EXPECT_EQ(host_in("192.0.2.7"), "");
    for (const char* value :
         {"192.0.2.8", "a.test:80", "0xC0000207", "3221225991", "[::1]", "a_%00.test", "a..test"}) {
        EXPECT_EQ(host_in(value), "refused") << value;
    }
}

TEST(RequestFacts, AMethodIsWhatAServerMightTakeItFor) {
    const http::RequestHead head =
        head_of("Host: a\r\nX-Http-Method-Override: delete\r\nX-Method-Override: PUT\r\n", "Post /x");
    EXPECT_EQ(possible_methods(head), (std::vector<std::string>{"Post", "POST", "DELETE", "PUT"}));
}

TEST(RequestFacts, TheRecordHasNoQueryAndABoundedPath) {
    EXPECT_EQ(path_for_record("/acme/shop.git/info/refs"), "/acme/shop.git/info/refs");
    EXPECT_EQ(path_for_record("/a/b/c/d/e/f"), "/a/b/c/d/...");
    EXPECT_EQ(path_for_record("/"), "/");
    EXPECT_LE(path_for_record("/" + std::string(10'000, 'x')).size(), 140U);
    EXPECT_EQ(head_of("Host: a\r\n", "GET /x?token=1").path, "/x");
}

TEST(RequestFacts, WhatIsWrittenForTheServerIsWhatWasJudged) {
    const http::RequestHead head = head_of(
        "Host: A.Test:8080\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nX-End: 2\r\nExpect: 100-continue\r\n"
        "Content-Length: 3\r\nTE: trailers\r\n",
        "POST /x?y");
    http::OutgoingRequest request{.host = "a.test",
                                  .port = 8080,
                                  .tls = false,
                                  .method = head.method,
                                  .target = head.target,
                                  .fields = message_fields(head.fields),
                                  .body = {}};
    EXPECT_EQ(outgoing_head(request, head),
              "POST /x?y HTTP/1.1\r\nHost: a.test:8080\r\nX-End: 2\r\nContent-Length: 3\r\n\r\n");
    request.body = "longer";
    EXPECT_EQ(outgoing_head(request, head),
              "POST /x?y HTTP/1.1\r\nHost: a.test:8080\r\nX-End: 2\r\nContent-Length: 6\r\n\r\n");
    request.target = "/x\r\nHost: b.test";
    EXPECT_THROW((void)outgoing_head(request, head), Error);
    request.target = "/x";
    request.fields.set("Authorization", "Bearer a\r\nX: y");
    EXPECT_THROW((void)outgoing_head(request, head), Error);
}

}  // namespace
}  // namespace oyat::egress
