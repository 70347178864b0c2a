#include "egress/first_bytes.hpp"

#include <gtest/gtest.h>

#include "egress/client_hello_for_tests.hpp"

namespace oyat::egress {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;
using testing::extension;
using testing::hello;
using testing::records;
using testing::server_name;
using Kind = FirstBytes::Kind;

TEST(FirstBytes, TheServerNameOfAHelloIsTold) {
    const FirstBytes found = look_at(hello(server_name("A.test")));
    EXPECT_EQ(found.kind, Kind::tls);
    EXPECT_EQ(found.name, "a.test");
    EXPECT_EQ(look_at(hello("")).kind, Kind::tls);
    EXPECT_EQ(look_at(hello("")).name, "");
    EXPECT_EQ(look_at(hello(extension(0xfe0d, "noise") + server_name("a.test"))).name, "a.test");
}

TEST(FirstBytes, AHelloInPiecesIsTheSameHello) {
    const std::string whole = hello(server_name("a.test"));
    for (std::size_t size = 1; size < whole.size(); ++size) {
        EXPECT_EQ(look_at(std::string_view{whole}.substr(0, size)).kind, Kind::incomplete) << size;
    }
    for (const std::size_t piece : {1, 2, 7, 50}) {
        EXPECT_EQ(look_at(hello(server_name("a.test"), piece)).name, "a.test") << piece;
    }
}

TEST(FirstBytes, AHelloThatTwoReadersUnderstandDifferentlyIsRefused) {  // threats E-04
    const std::pair<std::string, std::string_view> lines[] = {
        {hello(server_name("a.test") + server_name("b.test")), "two-server-names"},
        {hello(testing::server_names({"a.test", "b.test"})), "two-server-names"},
        {hello(server_name("a.test\0.evil"sv)), "server-name"},
        {hello(server_name("198.51.100.1")), "server-name"},
        {hello(server_name("b\xc3\xbc"
                           "cher.test")),
         "server-name"},
        {hello(server_name("a..test")), "server-name"},
        {hello(server_name("")), "server-name"},
        {hello(extension(0xffce, "x") + server_name("a.test")), "encrypted-server-name"},
        {hello(extension(0, std::string_view{"\0\x09\0\0\x10"
                                             "a.test",
                                             11})),
         "broken-hello"},
        {records("\1\0\0\2\3\3"sv) + "x", "broken-hello"},
        {records("\2\0\0\0"sv), "broken-hello"},
        {"\x16\3\1\0\0"s, "broken-hello"},
        {"\x16\2\1\0\1"s, "tls-version"},
        {records("\1\1\0\0"sv), "hello-size"},
    };
    for (const auto& [bytes, why] : lines) {
        EXPECT_EQ(look_at(bytes).kind, Kind::refused) << why;
        EXPECT_EQ(look_at(bytes).why, why);
    }
}

TEST(FirstBytes, HttpInClearIsSeenInAnyCase) {
    for (const std::string_view line : {"GET /"sv, "get /x"sv, "POST http://a.test/"sv, "OPTIONS * HTTP"sv,
                                        "CONNECT a.test:443"sv, "M-SEARCH *"sv, "GET\t/"sv}) {
        EXPECT_EQ(look_at(line).kind, Kind::http) << line;
    }
    for (const std::string_view start :
         {""sv, "G"sv, "GET"sv, "GET "sv, "PRI"sv, "PROXY"sv, "\r\n\r\n\0\r\nQUI"sv}) {
        EXPECT_EQ(look_at(start).kind, Kind::incomplete) << start;
    }
    for (const std::string_view other :
         {"SSH-2.0-x\r\n"sv, "PING\r\n"sv, "\0\0\0\x08\x04\xd2\x16\x2f"sv, "*1\r\n"sv, "SET a b"sv}) {
        EXPECT_EQ(look_at(other).kind, Kind::other) << other;
    }
}

TEST(FirstBytes, WhatWouldHideWhoSpeaksIsRefused) {
    EXPECT_EQ(look_at("PRI * HTTP/2.0\r\n").why, "h2c");
    EXPECT_EQ(look_at("PROXY TCP4 1.1.1.1").why, "proxy-protocol");
    EXPECT_EQ(look_at("\r\n\r\n\0\r\nQUIT\n\x21"sv).why, "proxy-protocol");
}

}  // namespace
}  // namespace oyat::egress
