#include "egress/destinations.hpp"

#include <gtest/gtest.h>

#include "base/throwing.hpp"

namespace oyat::egress {
namespace {

IpAddress ip(std::string_view text) {
    return or_throw(IpAddress::parse(text));
}

Destinations with(std::vector<std::string> reachable, std::vector<std::string> opened) {
    Destinations destinations{or_throw(OperatorOpenings::parse(reachable, opened))};
    destinations.set_host_addresses({ip("192.0.2.2"), ip("8.8.4.4"), ip("2001:db8::1")});
    return destinations;
}

struct Line {
    std::string_view address;
    std::uint16_t port;
    bool allowed;
    std::string_view rule;
};

void expect_lines(const Destinations& destinations, std::initializer_list<Line> lines) {
    for (const Line& line : lines) {
        const Verdict verdict = destinations.judge(ip(line.address), line.port);
        EXPECT_EQ(verdict.allowed, line.allowed) << line.address << ":" << line.port;
        EXPECT_EQ(verdict.rule, line.rule) << line.address << ":" << line.port;
    }
}

TEST(Destinations, JudgesEachRangeOfTheAlwaysDenySet) {
    expect_lines(with({}, {}), {
                                   {"0.0.0.0", 80, false, "always-deny:this-network"},
                                   {"0.255.255.255", 80, false, "always-deny:this-network"},
                                   {"1.0.0.0", 80, true, "internet"},
                                   {"127.0.0.1", 80, false, "always-deny:loopback"},
                                   {"127.255.255.255", 80, false, "always-deny:loopback"},
                                   {"126.255.255.255", 80, true, "internet"},
                                   {"128.0.0.0", 80, true, "internet"},
                                   {"169.254.169.254", 80, false, "always-deny:link-local"},
                                   {"169.253.255.255", 80, true, "internet"},
                                   {"169.255.0.0", 80, true, "internet"},
                                   {"168.63.129.16", 80, false, "always-deny:metadata"},
                                   {"168.63.129.17", 80, true, "internet"},
                                   {"100.100.100.200", 80, false, "always-deny:metadata"},
                                   {"224.0.0.1", 80, false, "always-deny:multicast"},
                                   {"239.255.255.255", 80, false, "always-deny:multicast"},
                                   {"240.0.0.0", 80, false, "always-deny:reserved"},
                                   {"255.255.255.255", 80, false, "always-deny:reserved"},
                                   {"223.255.255.255", 80, true, "internet"},
                                   {"::", 80, false, "always-deny:this-network"},
                                   {"::1", 80, false, "always-deny:loopback"},
                                   {"fe80::1", 80, false, "always-deny:link-local"},
                                   {"febf::1", 80, false, "always-deny:link-local"},
                                   {"ff02::1", 80, false, "always-deny:multicast"},
                                   {"fd00:ec2::254", 80, false, "always-deny:metadata"},
                                   {"10.0.0.0", 80, false, "private"},
                                   {"10.254.0.2", 65501, false, "private"},
                                   {"11.0.0.0", 80, true, "internet"},
                                   {"172.15.255.255", 80, true, "internet"},
                                   {"172.16.0.0", 80, false, "private"},
                                   {"172.31.255.255", 80, false, "private"},
                                   {"172.32.0.0", 80, true, "internet"},
                                   {"192.168.1.1", 80, false, "private"},
                                   {"192.169.0.0", 80, true, "internet"},
                                   {"100.64.0.0", 80, false, "private"},
                                   {"100.127.255.255", 80, false, "private"},
                                   {"100.128.0.0", 80, true, "internet"},
                                   {"198.18.0.0", 80, false, "private"},
                                   {"198.19.255.255", 80, false, "private"},
                                   {"198.20.0.0", 80, true, "internet"},
                                   {"fc00::1", 80, false, "private"},
                                   {"fdff::1", 80, false, "private"},
                               });
}

TEST(Destinations, LeavesDocumentationRangesOpen) {
    expect_lines(with({}, {}), {{"192.0.2.1", 443, true, "internet"},
                                {"198.51.100.1", 443, true, "internet"},
                                {"203.0.113.80", 443, true, "internet"}});
}

TEST(Destinations, UnwrapsAddressesInsideAddresses) {
    expect_lines(with({}, {}), {
                                   {"::ffff:169.254.169.254", 80, false, "always-deny:link-local"},
                                   {"::ffff:10.0.0.1", 80, false, "private"},
                                   {"64:ff9b::7f00:1", 80, false, "always-deny:loopback"},
                                   {"64:ff9b::a00:1", 80, false, "private"},
                                   {"64:ff9b::101:101", 80, true, "internet"},
                                   {"2002:a9fe:a9fe::1", 80, false, "always-deny:link-local"},
                                   {"2002:c0a8:101::1", 80, false, "private"},
                                   // Teredo: the last four bytes are 10.9.9.9 with all bits inverted.
                                   {"2001:0:4136:e378:8000:63bf:f5f6:f6f6", 80, false, "private"},
                               });
}

TEST(Destinations, RefusesEveryAddressOfThisHost) {
    expect_lines(with({"10.0.0.0/8"}, {}), {{"192.0.2.2", 3000, false, "always-deny:host"},
                                            {"8.8.4.4", 443, false, "always-deny:host"},
                                            {"2001:db8::1", 443, false, "always-deny:host"}});
}

TEST(Destinations, TheOperatorOpensPrivateRangesButNeverTheRest) {
    const Destinations destinations = with({"10.20.0.0/16", "169.254.0.0/16"}, {});
    expect_lines(destinations, {{"10.20.3.4", 443, true, "reachable_private"},
                                {"10.21.0.0", 443, false, "private"},
                                {"169.254.169.254", 80, false, "always-deny:link-local"}});
    EXPECT_TRUE(destinations.may_be_told(ip("10.20.3.4")));
    EXPECT_FALSE(destinations.may_be_told(ip("10.21.0.0")));
    EXPECT_FALSE(destinations.may_be_told(ip("::ffff:169.254.169.254")));
    EXPECT_FALSE(destinations.may_be_told(ip("192.0.2.2")));
}

TEST(Destinations, AnOpenedDoorIsOneAddressAndOnePort) {
    const Destinations destinations = with({}, {"192.0.2.2:8080", "[fe80::5]:443"});
    expect_lines(destinations, {{"192.0.2.2", 8080, true, "open_always_deny"},
                                {"192.0.2.2", 8081, false, "always-deny:host"},
                                {"fe80::5", 443, true, "open_always_deny"},
                                {"fe80::6", 443, false, "always-deny:link-local"}});
    EXPECT_TRUE(destinations.may_be_told(ip("192.0.2.2")));
}

TEST(OperatorOpenings, RefuseWhatTheyWouldNotUnderstand) {
    for (const char* text :
         {"", "10.0.0.0/33", "10.1.0.0/8", "ten", "10.0.0.0/", "fd00::/129", "0x0a.0.0.0/8"}) {
        EXPECT_FALSE(OperatorOpenings::parse({text}, {})) << text;
    }
    for (const char* text : {"", "1.2.3.4", "1.2.3.4:0", "1.2.3.4:70000", "host:80", "1.2.3.4:80x"}) {
        EXPECT_FALSE(OperatorOpenings::parse({}, {text})) << text;
    }
}

TEST(IpAddress, TakesOnlyCanonicalSpellings) {  // threats E-07
    for (const char* text :
         {"0x7f.1", "017700000001", "2130706433", "127.1", "0", "localhost", "1.2.3.4 ", "１.2.3.4"}) {
        EXPECT_FALSE(IpAddress::parse(text)) << text;
    }
}

}  // namespace
}  // namespace oyat::egress
