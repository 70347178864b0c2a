#include <gtest/gtest.h>

#include "egress/first_bytes.hpp"

namespace oyat::egress {
namespace {

using namespace std::string_literals;
using Kind = FirstBytes::Kind;

// Servers skip what comes before these requests, or take them for requests all the same; a rule by Host or
// path must not be passed by like that.
TEST(FirstBytes, ARequestInDisguiseIsNoOtherProtocol) {
    for (const std::string_view bytes : {"\r\nGET / HTTP/1.1\r\n", "\nGET / HTTP/1.1\r\n",
                                         " GET / HTTP/1.1\r\n", "\tGET / HTTP/1.1\r\n", "\r\nx", "\n"}) {
        EXPECT_EQ(look_at(bytes).kind, Kind::refused) << bytes;
    }
    for (const std::string_view bytes : {"GET\v/ HTTP/1.1\r\n", "GET\f/ HTTP/1.1\r\n", "get\t/ HTTP/1.1\r\n",
                                         "G_T / HTTP/1.1\r\n", "GET2 / HTTP/1.1\r\n"}) {
        EXPECT_EQ(look_at(bytes).kind, Kind::http) << bytes;
    }
}

TEST(FirstBytes, GitsOwnProtocolIsNoRequest) {
    EXPECT_EQ(look_at("0032git-upload-pack /project.git\0host=a.test\0"s).kind, Kind::other);
}

TEST(FirstBytes, AHelloOfSsl2IsNoWayAroundTheServerName) {
    EXPECT_EQ(look_at("\x80\x2e\x01\x03\x01"s + std::string(41, '\0')).kind, Kind::refused);
    EXPECT_EQ(look_at("\x80\x2e\x01\x00\x02"s + std::string(41, '\0')).kind, Kind::refused);
    for (const std::string& piece : {"\x80"s, "\x80\x2e"s, "\x80\x2e\x01"s}) {
        EXPECT_EQ(look_at(piece).kind, Kind::incomplete);
    }
    EXPECT_EQ(look_at("\x80\x2e\x02"s).kind, Kind::other);
}

// TLS 1.3 clients that resume a session send data right behind their hello (RFC 8446, 2.3).
TEST(FirstBytes, EarlyDataMayFollowTheHello) {
    const std::string body = "\3\3"s + std::string(32, 'r') + "\0\0\2\x13\1\1\0"s;
    const auto size = static_cast<char>(body.size());
    const std::string message = "\1\0\0"s + size + body;
    const std::string record = "\x16\3\1\0"s + static_cast<char>(message.size()) + message;
    EXPECT_EQ(look_at(record).kind, Kind::tls);
    EXPECT_EQ(look_at(record + "\x14\3\3\0\1\1"s + "\x17\3\3\0\5early"s).kind, Kind::tls);
    const std::string longer = "\x16\3\1\0"s + static_cast<char>(message.size() + 1) + message;
    EXPECT_EQ(look_at(longer).kind, Kind::incomplete);
    EXPECT_EQ(look_at(longer + "x").kind, Kind::refused);  // something is hidden in the hello's own record
}

}  // namespace
}  // namespace oyat::egress
