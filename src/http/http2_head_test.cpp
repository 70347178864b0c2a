#include "http/http2_head.hpp"

#include <gtest/gtest.h>

namespace oyat::http {
namespace {

Http2Fields request(const Http2Fields& more = {}) {
    Http2Fields fields{
        {":method", "GET"}, {":scheme", "https"}, {":authority", "A.test:8443"}, {":path", "/p?q=1"}};
    fields.insert(fields.end(), more.begin(), more.end());
    return fields;
}

TEST(Http2Head, ReadsWhatHttp11WouldRead) {
    const auto parsed = parse_http2_request(request({{"x-one", "1"}, {"te", "trailers"}}), true);
    ASSERT_TRUE(parsed) << parsed.error().message();
    const RequestHead& head = parsed->head;
    EXPECT_EQ(head.method, "GET");
    EXPECT_EQ(head.path, "/p");
    EXPECT_EQ(head.query, "q=1");
    EXPECT_EQ(head.host, "a.test");
    EXPECT_EQ(head.host_port, 8443);
    EXPECT_EQ(head.fields.get("Host"), "A.test:8443");
    EXPECT_EQ(head.fields.get("X-One"), "1");
    EXPECT_FALSE(head.has_body);
    EXPECT_FALSE(head.wants_upgrade);
}

TEST(Http2Head, PutsCookiesTogether) {
    const auto parsed = parse_http2_request(request({{"cookie", "a=1"}, {"x", ""}, {"cookie", "b=2"}}), true);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->head.fields.get("Cookie"), "a=1; b=2");
    EXPECT_EQ(parsed->head.fields.count("Cookie"), 1u);
}

TEST(Http2Head, ABodyMayHaveALengthOrNone) {
    const auto open = parse_http2_request(request(), false);
    ASSERT_TRUE(open);
    EXPECT_TRUE(open->head.has_body);
    EXPECT_FALSE(open->head.content_length);
    EXPECT_FALSE(open->head.fields.has("Transfer-Encoding"));
    const auto sized = parse_http2_request(request({{"content-length", "5"}}), false);
    ASSERT_TRUE(sized);
    EXPECT_EQ(sized->head.content_length, 5u);
    EXPECT_FALSE(parse_http2_request(request({{"content-length", "5"}}), true));
}

TEST(Http2Head, RefusesWhatTwoReadersCouldReadDifferently) {
    const Http2Fields refused[] = {
        {{":method", "GET"}, {":scheme", "https"}, {":path", "/"}},                         // no host
        {{":scheme", "https"}, {":authority", "a"}, {":path", "/"}},                        // no method
        {{":method", "CONNECT"}, {":authority", "a:443"}},                                  // a proxy's
        {{":method", "GET"}, {":scheme", "http"}, {":authority", "a"}, {":path", "/"}},     // not by TLS
        {{":method", "GET"}, {":scheme", "https"}, {":authority", "u@a"}, {":path", "/"}},  // user
        {{":method", "GET"}, {":scheme", "https"}, {":authority", "a"}, {":path", "http://b/"}},
        {{":method", "GET"}, {":scheme", "https"}, {":authority", "a"}, {":path", "/ HTTP/1.1"}},
        {{":method", "GET"}, {":scheme", "https"}, {":authority", "a"}, {":path", "/\r\nx: y"}},
        {{":method", "GET /x"}, {":scheme", "https"}, {":authority", "a"}, {":path", "/"}},
        {{":method", "GET"}, {":scheme", "https"}, {":authority", "a\r\nx: y"}, {":path", "/"}},
        request({{"host", "other.test"}}),
        request({{"host", "A.test:8443"}, {"host", "A.test:8443"}}),
        request({{":path", "/again"}}),
        request({{":protocol", "websocket"}}),
        request({{"transfer-encoding", "chunked"}}),
        request({{"connection", "close"}}),
        request({{"upgrade", "websocket"}}),
        request({{"te", "gzip"}}),
        request({{"X-Upper", "1"}}),
        request({{"x y", "1"}}),
        request({{"x:", "1"}}),
        request({{"", "1"}}),
        request({{"x", "1\r\ny: 2"}}),
        request({{"x", "1\n"}}),
        request({{"x", std::string("1\0", 2)}}),
        request({{"cookie", "a\r\nb: c"}}),
        request({{"content-length", "+5"}}),
        request({{"content-length", "5"}, {"content-length", "5"}}),
    };
    for (std::size_t at = 0; at < std::size(refused); ++at) {
        EXPECT_FALSE(parse_http2_request(refused[at], true)) << at;
        EXPECT_FALSE(parse_http2_request(refused[at], false)) << at;
    }
}

}  // namespace
}  // namespace oyat::http
