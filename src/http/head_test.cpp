#include "http/head.hpp"

#include <gtest/gtest.h>

#include "base/throwing.hpp"

namespace oyat::http {
namespace {

ParsedRequest request(std::string_view text) {
    return or_throw(parse_request_head(text));
}

TEST(RequestHead, IsTakenApart) {
    const ParsedRequest parsed = request(
        "POST /files?path=%2Fa HTTP/1.1\r\nHost: 49983-I1.Example.org:3000\r\nX-A:  b c \t\r\n"
        "Content-Length: 12\r\n\r\n");
    EXPECT_EQ(parsed.head.method, "POST");
    EXPECT_EQ(parsed.head.target, "/files?path=%2Fa");
    EXPECT_EQ(parsed.head.path, "/files");
    EXPECT_EQ(parsed.head.query, "path=%2Fa");
    EXPECT_EQ(parsed.head.host, "49983-i1.example.org");
    EXPECT_EQ(parsed.head.host_port, 3000);
    EXPECT_EQ(parsed.head.fields.get("x-a"), "b c");
    EXPECT_EQ(parsed.head.content_length, 12u);
    EXPECT_EQ(parsed.body, BodyKind::sized);
    EXPECT_TRUE(parsed.keep_alive);
}

TEST(RequestHead, ChunkedIsABodyOfUnknownLength) {
    const ParsedRequest parsed = request("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n");
    EXPECT_EQ(parsed.body, BodyKind::chunked);
    EXPECT_TRUE(parsed.head.has_body);
    EXPECT_FALSE(parsed.head.content_length);
}

// Each of these is read differently by some pair of servers (threats C-05).
TEST(RequestHead, RefusesWhatCouldBeReadInTwoWays) {
    const std::string_view post = "POST / HTTP/1.1\r\nHost: a\r\n";
    for (const std::string_view fields : {
             "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
             "Content-Length: 5\r\nContent-Length: 5\r\n\r\n",
             "Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
             "Content-Length: 5, 5\r\n\r\n",
             "Content-Length: +5\r\n\r\n",
             "Content-Length: -5\r\n\r\n",
             "Content-Length: 0x5\r\n\r\n",
             "Content-Length: 5 5\r\n\r\n",
             "Content-Length: \r\n\r\n",
             "Content-Length: 99999999999999999999\r\n\r\n",
             "Transfer-Encoding: gzip, chunked\r\n\r\n",
             "Transfer-Encoding: chunked, identity\r\n\r\n",
             "Transfer-Encoding: chunked, chunked\r\n\r\n",
             "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
             "Transfer-Encoding: identity\r\n\r\n",
             "Transfer-Encoding: \x0b"
             "chunked\r\n\r\n",
             "Transfer-Encoding : chunked\r\n\r\n",
             "X: a\r\n folded\r\n\r\n",
             "X: a\r\n\tfolded\r\n\r\n",
             " X: a\r\n\r\n",
             "X : a\r\n\r\n",
             "X\t: a\r\n\r\n",
             ": a\r\n\r\n",
             "no colon\r\n\r\n",
             "X: a\nY: b\r\n\r\n",
             "X: a\rY: b\r\n\r\n",
             "X: a\r\n\n",
             "X: a\n\r\n",
             "X: a\n\n",
             "X: a\x01"
             "b\r\n\r\n",
             "X\x80: a\r\n\r\n",
             "Host: b\r\n\r\n",
             "Expect: something\r\n\r\n",
         }) {
        EXPECT_FALSE(parse_request_head(std::string{post}.append(fields))) << fields;
    }
    EXPECT_FALSE(parse_request_head(std::string{post}.append("X: a\0b\r\n\r\n", 10))) << "NUL";
}

TEST(RequestHead, RefusesRequestLinesThatAreNotForAServer) {
    for (const std::string_view line : {
             "GET http://other/ HTTP/1.1",
             "GET https://a/ HTTP/1.1",
             "CONNECT a:443 HTTP/1.1",
             "GET a HTTP/1.1",
             "GET * HTTP/1.1",
             "GET  / HTTP/1.1",
             "GET /  HTTP/1.1",
             "GET / a HTTP/1.1",
             "GET /#a HTTP/1.1",
             "GET / HTTP/1.2",
             "GET / HTTP/2.0",
             "GET / http/1.1",
             "GET /",
             "GET / HTTP/1.1 ",
             " GET / HTTP/1.1",
             "G(T / HTTP/1.1",
             "PRI * HTTP/2.0",
             "",
         }) {
        EXPECT_FALSE(parse_request_head(std::string{line} + "\r\nHost: a\r\n\r\n")) << line;
    }
    EXPECT_TRUE(parse_request_head("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"));
}

TEST(RequestHead, RefusesHostsThatNameNoHost) {
    for (const std::string_view host : {"", "a b", "a/b", "a@b", "a:0", "a:65536", "a:", "a:+1", "a:1:2",
                                        "[::1", "[x]", "a,b:1 ", "a\\b", "::1"}) {
        const bool trimmed_to_good = host == "a,b:1 ";
        EXPECT_EQ(parse_request_head("GET / HTTP/1.1\r\nHost: " + std::string{host} + "\r\n\r\n").has_value(),
                  trimmed_to_good)
            << host;
    }
    EXPECT_FALSE(parse_request_head("GET / HTTP/1.1\r\n\r\n")) << "none";
    EXPECT_EQ(request("GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n").head.host, "[::1]");
    EXPECT_EQ(request("GET / HTTP/1.0\r\n\r\n").head.host, "");
}

TEST(RequestHead, AnUpgradeIsOneWhenNothingStandsInItsWay) {
    const auto wants = [](std::string_view fields) {
        return request("GET / HTTP/1.1\r\nHost: a\r\n" + std::string{fields} + "\r\n").head.wants_upgrade;
    };
    EXPECT_TRUE(wants("Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"));
    EXPECT_FALSE(wants("Upgrade: websocket\r\n"));
    EXPECT_FALSE(wants("Connection: Upgrade\r\n"));
    // Would tunnel requests past everything that checks them.
    EXPECT_FALSE(wants("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"));
    EXPECT_FALSE(wants("Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 1\r\n"));
}

TEST(FindHeadEnd, SeesTheEndAcrossReads) {
    const std::string_view text = "GET / HTTP/1.1\r\nHost: a\r\n\r\nrest";
    const std::size_t end = text.find("rest");
    for (std::size_t searched = 0; searched < end; ++searched) {
        EXPECT_EQ(find_head_end(text.substr(0, searched), 0), std::string_view::npos) << searched;
        EXPECT_EQ(find_head_end(text, searched), end) << searched;
    }
    EXPECT_EQ(find_head_end("a\n\nb", 0), 3u) << "for the parser to refuse, not for us to wait";
}

TEST(ResponseHead, SaysHowItsBodyEnds) {
    const auto kind = [](std::string_view head, std::string_view method) {
        return or_throw(parse_response_head(head, method)).body;
    };
    EXPECT_EQ(kind("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", "GET"), BodyKind::sized);
    EXPECT_EQ(kind("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", "HEAD"), BodyKind::none);
    EXPECT_EQ(kind("HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n", "GET"), BodyKind::chunked);
    EXPECT_EQ(kind("HTTP/1.0 200 OK\r\n\r\n", "GET"), BodyKind::until_close);
    EXPECT_EQ(kind("HTTP/1.1 304 \r\nContent-Length: 3\r\n\r\n", "GET"), BodyKind::none);
}

TEST(ResponseHead, RefusesWhatCouldBeReadInTwoWays) {
    for (const std::string_view head : {
             "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
             "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
             "HTTP/1.1 20 OK\r\n\r\n",
             "HTTP/1.1 2000 OK\r\n\r\n",
             "HTTP/1.1 +20 OK\r\n\r\n",
             "HTTP/2 200 OK\r\n\r\n",
             "ICY 200 OK\r\n\r\n",
             "HTTP/1.1 200 O\rK\r\n\r\n",
             "HTTP/1.1 200 OK\n\n",
             "HTTP/1.1 099 OK\r\n\r\n",
             "\r\n",
         }) {
        EXPECT_FALSE(parse_response_head(head, "GET")) << head;
    }
}

}  // namespace
}  // namespace oyat::http
