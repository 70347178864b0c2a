#include "egress/interception.hpp"

#include <gtest/gtest.h>

#include "egress/read_scene_for_tests.hpp"

namespace oyat::egress {
namespace {

using namespace testing;
using http::testing::has;
using http::testing::read_until;

core::PolicyPtr only_pushes_to(std::string_view ref) {
    policy::Rule rule = allow("own", {}, {"/x.git/git-receive-pack"});
    rule.refs.push_back(or_throw(policy::Glob::parse(ref)));
    return only({rule});
}

std::string push_of(const std::string& ref, const std::string& head) {
    const std::string line = std::string(40, '0') + " " + std::string(40, 'a') + " " + ref;
    std::array<char, 5> size{};
    std::snprintf(size.data(), size.size(), "%04zx", line.size() + 4);
    const std::string body = size.data() + line + "0000PACK and so on";
    if (head == "chunked") {
        const std::string first = body.substr(0, 20), rest = body.substr(20);
        std::array<char, 16> more{};
        std::snprintf(more.data(), more.size(), "%zx\r\n", rest.size());
        return "POST /x.git/git-receive-pack HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: "
               "chunked\r\n\r\n14\r\n" +
               first + "\r\n" + more.data() + rest + "\r\n0\r\n\r\n";
    }
    return "POST /x.git/git-receive-pack HTTP/1.1\r\nHost: a.test\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
}

TEST(Interception, APushIsJudgedByItsRefsAndPassesWhole) {
    in_scene([](ReadScene& scene) -> Task<> {
        scene.policy = only_pushes_to("refs/heads/agent/**");
        for (const std::string framing : {"sized", "chunked"}) {
            const std::string answer = co_await scene.ask(push_of("refs/heads/agent/one", framing));
            EXPECT_TRUE(has(answer, "refs/heads/agent/one0000PACK and so on")) << answer;
        }
        EXPECT_EQ(scene.seen.size(), 2U);
        EXPECT_TRUE(scene.log.has("http.request", "\"refs\":[\"refs/heads/agent/one\"]"));
    });
}

TEST(Interception, APushToAnotherRefStaysHereAndTheAnswerNamesIt) {
    in_scene([](ReadScene& scene) -> Task<> {
        scene.policy = only_pushes_to("refs/heads/agent/**");
        for (const std::string framing : {"sized", "chunked"}) {
            const std::string answer = co_await scene.ask(push_of("refs/heads/main", framing));
            EXPECT_TRUE(answer.starts_with("HTTP/1.1 403")) << answer;
            EXPECT_TRUE(has(answer, "push to refs/heads/main denied by rule default (tenant)")) << answer;
        }
        const std::string answer = co_await scene.ask(push_of("refs/heads/../main", "sized"));
        EXPECT_TRUE(has(answer, "the refs of this push can't be read")) << answer;
        EXPECT_EQ(scene.connects, 0U);
        EXPECT_TRUE(scene.log.has("connect.denied", "\"refs\":[\"refs/heads/main\"]"));
    });
}

}  // namespace
}  // namespace oyat::egress
