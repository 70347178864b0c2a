#include "http/router.hpp"

#include <gtest/gtest.h>

namespace oyat::http {
namespace {

RouteHandler nobody() {
    return [](Exchange&, const PathValues&) -> Task<> { co_return; };
}

class RouterTest : public ::testing::Test {
protected:
    RouterTest() {
        for (const char* pattern : {"/", "/sandboxes", "/sandboxes/{id}", "/sandboxes/metrics",
                                    "/sandboxes/{id}/logs", "/s/{id}/{rest*}"}) {
            router_.add("GET", pattern, nobody());
        }
        router_.add("POST", "/sandboxes", nobody());
        router_.add("DELETE", "/sandboxes/{id}", nobody());
    }

    std::string pattern(std::string_view method, std::string_view path) const {
        const Router::Match match = router_.find(method, path);
        return match.pattern != nullptr ? *match.pattern : match.path_known ? "405" : "404";
    }
    std::string value(std::string_view path, const std::string& name) const {
        const Router::Match match = router_.find("GET", path);
        const auto found = match.values.find(name);
        return found == match.values.end() ? "-" : found->second;
    }

    Router router_;
};

TEST_F(RouterTest, FindsByMethodAndPath) {
    EXPECT_EQ(pattern("GET", "/"), "/");
    EXPECT_EQ(pattern("GET", "/sandboxes"), "/sandboxes");
    EXPECT_EQ(pattern("POST", "/sandboxes"), "/sandboxes");
    EXPECT_EQ(pattern("GET", "/sandboxes/i1/logs"), "/sandboxes/{id}/logs");
    EXPECT_EQ(value("/sandboxes/i1/logs", "id"), "i1");
}

TEST_F(RouterTest, AWordGoesBeforeAName) {
    EXPECT_EQ(pattern("GET", "/sandboxes/metrics"), "/sandboxes/metrics");
    EXPECT_EQ(pattern("DELETE", "/sandboxes/metrics"), "/sandboxes/{id}");
}

TEST_F(RouterTest, TellsUnknownPathsFromUnknownMethods) {
    EXPECT_EQ(pattern("PUT", "/sandboxes"), "405");
    for (const char* path :
         {"/nothing", "/sandboxes/", "/sandboxes/i1/", "//sandboxes", "/sandboxes/i1/logs/x", "*", ""}) {
        EXPECT_EQ(pattern("GET", path), "404") << path;
    }
}

TEST_F(RouterTest, HeadIsAnsweredByGet) {
    EXPECT_EQ(pattern("HEAD", "/sandboxes/i1"), "/sandboxes/{id}");
    router_.add("HEAD", "/sandboxes/{name}", nobody());
    EXPECT_EQ(pattern("HEAD", "/sandboxes/i1"), "/sandboxes/{name}");
    EXPECT_EQ(pattern("GET", "/sandboxes/i1"), "/sandboxes/{id}");
}

TEST_F(RouterTest, AValueIsOneDecodedSegment) {
    EXPECT_EQ(value("/sandboxes/a%20b", "id"), "a b");
    EXPECT_EQ(value("/sandboxes/a+b", "id"), "a+b");
    // An id that turns into a path, or into less than it looks like, is no id (threats C-03).
    for (const char* path :
         {"/sandboxes/a%2fb", "/sandboxes/%2F", "/sandboxes/a%00", "/sandboxes/a%", "/sandboxes/a%g1"}) {
        EXPECT_EQ(pattern("GET", path), "404") << path;
    }
    EXPECT_EQ(value("/sandboxes/%2e%2e", "id"), "..") << "a value, for its owner to refuse";
}

TEST_F(RouterTest, ARestTakesEverythingBehindIt) {
    EXPECT_EQ(value("/s/i1/a/b%2Fc", "rest"), "a/b/c");
    EXPECT_EQ(value("/s/i1/", "rest"), "");
    EXPECT_EQ(pattern("GET", "/s/i1/a%00"), "404");
}

TEST_F(RouterTest, ListsItsRoutes) {
    EXPECT_EQ(router_.routes().size(), 8u);
    EXPECT_EQ(router_.routes().back(), "DELETE /sandboxes/{id}");
}

}  // namespace
}  // namespace oyat::http
