#include "egress/socks.hpp"

#include <gtest/gtest.h>

#include "egress/explicit_proxy.hpp"

namespace oyat::egress {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

TEST(Socks, ReadsWhereAClientWantsToGo) {
    using State = socks::Parsed<socks::Request>::State;
    const auto name = socks::parse_request("\5\1\0\3\6a.test\1\xbbrest"sv);
    EXPECT_EQ(name.state, State::done);
    EXPECT_EQ(name.size, 13u);
    EXPECT_EQ(name.value.target.name, "a.test");
    EXPECT_EQ(name.value.target.port, 443);
    const auto address = socks::parse_request("\5\1\0\1\xc0\0\2\7\0\x50"sv);
    EXPECT_EQ(address.value.target.address->to_string(), "192.0.2.7");
    EXPECT_EQ(socks::parse_request("\5\2\0\1"sv).value.problem, socks::Reply::unknown_command);
    EXPECT_EQ(socks::parse_request("\5\1\0\2"sv).value.problem, socks::Reply::unknown_address_type);
    EXPECT_EQ(socks::parse_request("\4\1"sv).state, State::broken);
    const std::string whole = "\5\1\0\3\6a.test\1\xbb"s;
    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_EQ(socks::parse_request(std::string_view{whole}.substr(0, size)).state, State::incomplete)
            << size;
    }
}

TEST(Socks, WhatOneSideWritesTheOtherReads) {
    for (const socks::Target& target :
         {socks::Target{.name = "a.test", .address = {}, .port = 443},
          socks::Target{.name = {}, .address = IpAddress::v4(0xC0000207), .port = 80},
          socks::Target{.name = {}, .address = *IpAddress::parse("2001:db8::1"), .port = 1}}) {
        const auto read = socks::parse_request(socks::write_request(target));
        EXPECT_EQ(read.value.target.name, target.name);
        EXPECT_EQ(read.value.target.address, target.address);
        EXPECT_EQ(read.value.target.port, target.port);
    }
    EXPECT_EQ(socks::parse_reply(socks::write_reply(socks::Reply::not_allowed)).value,
              socks::Reply::not_allowed);
    EXPECT_TRUE(socks::parse_greeting(socks::write_greeting(true)).value.without_login);
    EXPECT_FALSE(socks::parse_greeting("\5\1\2"sv).value.without_login);
}

TEST(ExplicitProxy, ReadsAConnectRequest) {
    using State = ConnectHead::State;
    const ConnectHead head = parse_connect("CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n\x16");
    EXPECT_EQ(head.state, State::done);
    EXPECT_EQ(head.target.name, "a.test");
    EXPECT_EQ(head.target.port, 443);
    EXPECT_EQ(head.size, 49u);
    EXPECT_EQ(parse_connect("CONNECT [2001:db8::1]:1 HTTP/1.1\r\n\r\n").target.address->to_string(),
              "2001:db8::1");
    EXPECT_EQ(parse_connect("CONNECT a.test:443 HTTP/1.1\r\n").state, State::incomplete);
    EXPECT_EQ(parse_connect("GET http://a.test/ HTTP/1.1\r\n\r\n").state, State::other_method);
    for (const std::string_view bad :
         {"CONNECT a.test HTTP/1.1\r\n\r\n"sv, "CONNECT a.test:0 HTTP/1.1\r\n\r\n"sv,
          "CONNECT a.test:99999 HTTP/1.1\r\n\r\n"sv, "CONNECT HTTP/1.1\r\n\r\n"sv,
          "CONNECT a.test:443 HTTP/2.0\r\n\r\n"sv, "CONNECT  HTTP/1.1\r\n\r\n"sv}) {
        EXPECT_EQ(parse_connect(bad).state, State::broken) << bad;
    }
    EXPECT_EQ(parse_connect(std::string(ConnectHead::kMost, 'x')).state, State::broken);
}

}  // namespace
}  // namespace oyat::egress
