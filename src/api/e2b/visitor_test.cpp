#include "api/e2b/visitor.hpp"

#include <gtest/gtest.h>

namespace oyat::e2b {
namespace {

using namespace std::chrono_literals;

http::RequestHead request(std::string target, http::Fields fields = {}) {
    http::RequestHead head;
    head.method = "GET";
    head.target = std::move(target);
    head.tls = true;
    head.fields = std::move(fields);
    head.fields.add("Host", "3000-iabc.oyat.test");
    return head;
}

Visitor visitor(const http::RequestHead& head, bool by_host = true) {
    return visitor_of(head, {.sandbox = "iabc", .port = 3000, .target = head.target, .by_host = by_host});
}

TEST(Visitor, TheLinkLeavesTheQueryBeforeTheServerInsideSeesIt) {
    const std::pair<const char*, const char*> cases[] = {{"/?oyat_link=1.a", "/"},
                                                         {"/p?oyat_link=1.a&b=c", "/p?b=c"},
                                                         {"/p?b=c&oyat_link=1.a", "/p?b=c"},
                                                         {"/p?b=c&oyat_link=1.a&d", "/p?b=c&d"},
                                                         {"/p?oyat_link=1.a&oyat_link=2.b", "/p"}};
    for (const auto& [target, left] : cases) {
        const Visitor found = visitor(request(target));
        EXPECT_EQ(found.credentials.link, "1.a") << target;
        EXPECT_EQ(found.target, left) << target;
    }
    EXPECT_FALSE(visitor(request("/p?my_oyat_link=1.a&oyat_link")).credentials.link);
    EXPECT_EQ(visitor(request("/p?a=&&b")).target, "/p?a=&&b") << "what is not ours stays as it came";
}

TEST(Visitor, OurCookieIsReadAndTakenOut) {
    const Visitor found = visitor(request("/", {{"Cookie", "a=1; __Host-oyat-link=9.f; b=2"}}));
    EXPECT_EQ(found.credentials.link, "9.f");
    EXPECT_EQ(found.link_from, Visitor::LinkFrom::cookie);
    EXPECT_EQ(found.cookies, "a=1; b=2");
    EXPECT_EQ(visitor(request("/", {{"Cookie", "__Host-oyat-link=9.f"}})).cookies, "");
    EXPECT_FALSE(visitor(request("/", {{"Cookie", "a=1"}})).cookies);
    EXPECT_FALSE(visitor(request("/", {{"Cookie", "oyat-link=9.f"}})).credentials.link)
        << "by TLS only the name that a neighbour can't set counts";
}

TEST(Visitor, ACookieOfAHostThatManyShareProvesNothing) {
    EXPECT_FALSE(
        visitor(request("/s/iabc/3000/", {{"Cookie", "__Host-oyat-link=9.f"}}), false).credentials.link);
}

TEST(Visitor, TwoTokensAreAWrongOne) {
    EXPECT_EQ(visitor(request("/", {{"E2B-Traffic-Access-Token", "a"}})).credentials.token, "a");
    EXPECT_EQ(visitor(request("/", {{"E2B-Traffic-Access-Token", "a"}, {"E2B-Traffic-Access-Token", "a"}}))
                  .credentials.token,
              "");
    EXPECT_FALSE(visitor(request("/")).credentials.token);
}

TEST(Visitor, ACookieIsNoWordOfAForeignPage) {
    EXPECT_TRUE(is_from_own_page(request("/")));
    EXPECT_TRUE(is_from_own_page(request("/", {{"Sec-Fetch-Site", "none"}})));
    EXPECT_TRUE(is_from_own_page(request("/", {{"Sec-Fetch-Site", "same-origin"}})));
    EXPECT_TRUE(is_from_own_page(request("/", {{"Origin", "https://3000-iabc.oyat.test"}})));
    EXPECT_TRUE(is_from_own_page(request(
        "/",
        {{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Mode", "navigate"}, {"Sec-Fetch-Dest", "document"}})));
    for (const http::Fields& foreign :
         {http::Fields{{"Sec-Fetch-Site", "same-site"}, {"Sec-Fetch-Mode", "cors"}},
          http::Fields{{"Sec-Fetch-Site", "cross-site"}},
          http::Fields{
              {"Sec-Fetch-Site", "same-site"}, {"Sec-Fetch-Mode", "navigate"}, {"Sec-Fetch-Dest", "iframe"}},
          http::Fields{{"Origin", "https://3000-iother.oyat.test"}},
          http::Fields{{"Origin", "http://3000-iabc.oyat.test"}}, http::Fields{{"Origin", "null"}}}) {
        EXPECT_FALSE(is_from_own_page(request("/", foreign)));
    }
    http::RequestHead post = request(
        "/",
        {{"Sec-Fetch-Site", "same-site"}, {"Sec-Fetch-Mode", "navigate"}, {"Sec-Fetch-Dest", "document"}});
    post.method = "POST";
    EXPECT_FALSE(is_from_own_page(post));
}

TEST(Visitor, NoAddressOfOursLeadsToAnotherHost) {
    EXPECT_EQ(location_here("/a?b=//c"), "/a?b=//c");
    EXPECT_EQ(location_here("/"), "/");
    EXPECT_EQ(location_here("//evil.example/"), "/.//evil.example/");
    EXPECT_EQ(location_here("/\\evil.example"), "/./\\evil.example");
}

TEST(Visitor, TheCookieIsForThisHostAndTheTimeOfTheLink) {
    const WallTime now = from_unix_millis(1'800'000'000'000);
    EXPECT_EQ(link_cookie(request("/"), "9.f", now + 90s, now),
              "__Host-oyat-link=9.f; Path=/; HttpOnly; SameSite=Lax; Max-Age=90; Secure");
}

}  // namespace
}  // namespace oyat::e2b
