#include "egress/interception.hpp"

#include <gtest/gtest.h>

#include "egress/read_scene_for_tests.hpp"

namespace oyat::egress {
namespace {

using namespace testing;
using http::testing::has;
using http::testing::read_until;

TEST(Interception, PassesWhatIsAllowedAndAnswersTheRestItself) {
    in_scene([](ReadScene& scene) -> Task<> {
        scene.policy = only({allow("orders", {"GET"}, {"/v2/orders/**"})});
        const std::string answers = co_await scene.ask(
            "GET /v2/orders/7 HTTP/1.1\r\nHost: a.test\r\n\r\n"
            "GET /v2/admin HTTP/1.1\r\nHost: a.test\r\n\r\n"
            "POST /v2/orders/7 HTTP/1.1\r\nHost: a.test\r\nContent-Length: 4\r\n\r\nbody");
        EXPECT_TRUE(has(answers, "/v2/orders/7 of a.test"));
        EXPECT_TRUE(
            has(answers,
                "oyat: GET http://a.test/v2/admin denied by rule default (tenant), see denied report\n"));
        EXPECT_TRUE(has(answers, "oyat: POST http://a.test/v2/orders/7 denied"));
        EXPECT_EQ(scene.seen.size(), 1U);
        EXPECT_TRUE(scene.log.has("http.request", "\"path\":\"/v2/orders/7\""));
        EXPECT_TRUE(scene.log.has("http.request", "\"strength\":\"authority\""));
        EXPECT_TRUE(scene.log.has("connect.denied", "\"method\":\"POST\""));
    });
}

TEST(Interception, WhatIsFetchedFromARegistryIsOnTheRecordByNameAndVersion) {
    in_scene([](ReadScene& scene) -> Task<> {
        scene.policy = only({allow("all", {}, {"/**"})});
        (void)co_await scene.ask(
            "GET /debian/pool/main/c/curl/curl_7.88.1-10_amd64.deb HTTP/1.1\r\nHost: a.test\r\n\r\n"
            "GET /simple/curl/ HTTP/1.1\r\nHost: a.test\r\n\r\n");
        EXPECT_TRUE(scene.log.has("package.fetched", "\"name\":\"curl\",\"version\":\"7.88.1-10\""));
        EXPECT_FALSE(scene.log.has("package.fetched", "simple"));
    });
}

TEST(Interception, KeepsOneConnectionToTheServerForAllRequestsOfOne) {
    in_scene([](ReadScene& scene) -> Task<> {
        std::string requests;
        for (int i = 0; i < 20; ++i) requests += "GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n";
        const std::string answers = co_await scene.ask(std::move(requests));
        EXPECT_EQ(http::testing::count_of(answers, "/x of a.test"), 20U);
        EXPECT_EQ(scene.connects, 1U);
        (void)co_await scene.ask("GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n");
        EXPECT_EQ(scene.connects, 2U);  // never shared with another connection of the sandbox
    });
}

// threats E-11: what another reader of these bytes could understand differently reaches nobody.
TEST(Interception, NothingSmuggledReachesTheServer) {
    in_scene([](ReadScene& scene) -> Task<> {
        scene.policy = only({allow("public", {}, {"/ok", "/chat"})});
        for (const char* bytes : {
                 "CONNECT b.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n",
                 "GET http://b.test/ok HTTP/1.1\r\nHost: a.test\r\n\r\n",
                 "GET /ok HTTP/1.1\r\nHost: a.test\r\nHost: b.test\r\n\r\n",
                 "GET /ok HTTP/1.1\r\n\r\n",
                 "GET /ok HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\nTransfer-Encoding: "
                 "chunked\r\n\r\n0\r\n\r\n",
                 "POST /ok HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
                 "POST /ok HTTP/1.1\r\nHost: a.test\r\nContent-Length: +5\r\n\r\nhello",
                 "GET /ok HTTP/1.1\r\nHost : a.test\r\n\r\n",
                 "GET /ok HTTP/1.1\r\nHost: a.test\r\nX: 1\r\n folded\r\n\r\n",
                 "GET /ok HTTP/1.1\nHost: a.test\n\n",
                 "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
             }) {
            const std::string answer = co_await scene.ask(bytes);
            EXPECT_TRUE(answer.starts_with("HTTP/1.1 400")) << bytes << answer;
        }
        EXPECT_EQ(scene.connects, 0U);
        EXPECT_TRUE(scene.log.has("connect.denied", "malformed-request"));
    });
}

// Behind it nobody would judge requests any more; an upgrade to a WebSocket is one of its own.
TEST(Interception, AnUpgradeToHttp2InClearIsRefusedAndTold) {
    in_scene([](ReadScene& scene) -> Task<> {
        for (const char* upgrade : {"h2c", "H2C", "websocket, h2c"}) {
            const std::string answer =
                co_await scene.ask("GET /ok HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: " +
                                   std::string{upgrade} + "\r\n\r\n");
            EXPECT_TRUE(answer.starts_with("HTTP/1.1 403") && has(answer, "h2c")) << answer;
        }
        EXPECT_EQ(scene.connects, 0U);
        EXPECT_TRUE(scene.log.has("connect.denied", "\"rule\":\"h2c\""));
    });
}

// threats E-12
TEST(Interception, PathsThatTwoServersReadDifferentlyAreInNoAllowedPath) {
    in_scene([](ReadScene& scene) -> Task<> {
        scene.policy = only({allow("orders", {"GET"}, {"/v2/orders/**"})});
        for (const char* path :
             {"/v2/orders//x", "/v2/orders/../admin", "/v2/orders/%2e%2e/admin", "/v2/orders%2f..%2fadmin",
              "/v2/orders/\\..\\admin", "/v2/orders/%00", "/v2/orders/%c0%ae%c0%ae/admin"}) {
            const std::string answer =
                co_await scene.ask("GET " + std::string{path} + " HTTP/1.1\r\nHost: a.test\r\n\r\n");
            EXPECT_TRUE(answer.starts_with("HTTP/1.1 403")) << path << answer;
        }
        EXPECT_TRUE(scene.seen.empty());
    });
}

TEST(Interception, AMethodThatAServerMightObeyInsteadHasToBeAllowedToo) {
    in_scene([](ReadScene& scene) -> Task<> {
        scene.policy = only({allow("read", {"GET"}, {})});
        for (const char* bytes : {"GET /x HTTP/1.1\r\nHost: a.test\r\nX-HTTP-Method-Override: delete\r\n\r\n",
                                  "GET /x HTTP/1.1\r\nHost: a.test\r\nx-method-override: PUT\r\n\r\n",
                                  "get /x HTTP/1.1\r\nHost: a.test\r\n\r\n"}) {
            const std::string answer = co_await scene.ask(bytes);
            EXPECT_TRUE(answer.starts_with("HTTP/1.1 403")) << bytes;
        }
        EXPECT_TRUE(scene.seen.empty());
    });
}

TEST(Interception, AHostMustStandForTheVeryAddress) {
    in_scene([](ReadScene& scene) -> Task<> {
        scene.other_names = {"twin.test"};
        const auto ask = [&](std::string host) {
            return scene.ask("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
        };
        EXPECT_TRUE(has(co_await ask("twin.test"), "/ of twin.test"));
        EXPECT_TRUE(has(co_await ask("A.Test."), "/ of a.test"));
        EXPECT_TRUE(has(co_await ask("127.0.0.1"), "/ of 127.0.0.1"));
        for (const char* host : {"b.test", "127.0.0.2", "0x7f.1", "a.test:1", "a.test@b.test", "a.test%00"}) {
            EXPECT_FALSE(has(co_await ask(host), "HTTP/1.1 200")) << host;
        }
        EXPECT_EQ(scene.seen.size(), 3U);
        EXPECT_TRUE(scene.log.has("connect.denied", "host-mismatch"));
    });
}

TEST(Interception, CarriesAnUpgradeToAllowedPathsOnly) {
    in_scene([](ReadScene& scene) -> Task<> {
        scene.policy = only({allow("chat", {"GET"}, {"/chat"})});
        scene.handler = [](http::Exchange& exchange) -> Task<> {
            const auto stream = co_await exchange.take_over(
                "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
            EXPECT_EQ(co_await read_until(*stream, "?"), "any bytes?");
            co_await stream->write_all("as they are!");
        };
        const auto upgrade = [](std::string path) {
            return "GET " + path +
                   " HTTP/1.1\r\nHost: a.test\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n";
        };
        const auto program = scene.program();
        co_await program->write_all(upgrade("/chat"));
        EXPECT_TRUE((co_await read_until(*program, "\r\n\r\n")).starts_with("HTTP/1.1 101"));
        co_await program->write_all("any bytes?");
        EXPECT_EQ(co_await read_until(*program, "!"), "as they are!");
        program->close();
        co_await scene.tasks.wait_idle();
        EXPECT_TRUE((co_await scene.ask(upgrade("/admin"))).starts_with("HTTP/1.1 403"));
        EXPECT_EQ(scene.seen.size(), 1U);
    });
}

// Speaks whatever bytes to the first request of each connection.
Task<> speak(std::unique_ptr<Stream> stream, std::string bytes) {
    (void)co_await read_until(*stream, "\r\n\r\n");
    try {
        co_await stream->write_all(bytes);
        if (bytes != "") stream->shutdown_write();
        (void)co_await http::testing::read_to_end(*stream);
    } catch (const Error& error) {
        if (error.code() == Errc::canceled) throw;
    }
}

// threats E-18
TEST(Interception, SaysWhatAServerDidWrong) {
    in_scene([](ReadScene& scene) -> Task<> {
        scene.limits.answer = Millis{100};
        std::string flood;
        for (int i = 0; i < 100; ++i) flood += "HTTP/1.1 103 Early Hints\r\n\r\n";
        std::string bytes;
        scene.connecting = [&]() -> Task<Fd> {
            std::array<int, 2> ends{};
            sys(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), "socketpair");
            scene.tasks.spawn(speak(make_stream(scene.executor, Fd{ends[1]}), bytes));
            co_return Fd{ends[0]};
        };
        struct Case {
            std::string bytes;
            const char* reason;
        };
        for (const Case& one : {
                 Case{"", "gave no answer in time"},
                 Case{"HTTP/1.1 200", "closed the connection without an answer"},
                 Case{"SSH-2.0-x\r\n\r\n", "not HTTP/1.1"},
                 Case{"HTTP/1.1 200 OK\r\nX: " + std::string(10 << 20, 'x'), "its head is too long"},
                 Case{flood, "too many interim answers"},
                 Case{"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "without being asked"},
             }) {
            bytes = one.bytes;
            const std::string answer = co_await scene.ask("GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n");
            EXPECT_TRUE(answer.starts_with("HTTP/1.1 502")) << one.reason << answer.substr(0, 200);
            EXPECT_TRUE(has(answer, "oyat: GET http://a.test/x failed: ")) << one.reason;
            EXPECT_TRUE(has(answer, one.reason)) << answer.substr(0, 500);
            EXPECT_TRUE(scene.log.has("upstream.failed", one.reason)) << one.reason;
        }
        scene.connecting = []() -> Task<Fd> {
            throw Error{Errc::unavailable, "connect: Connection refused"};
        };
        const std::string answer = co_await scene.ask("GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n");
        EXPECT_TRUE(has(answer, "failed: connect: Connection refused"));
    });
}

TEST(Interception, AsksAnewWhenTheServerHasEndedTheConnectionMeanwhile) {
    in_scene([](ReadScene& scene) -> Task<> {
        // One answer each, and then the end, without a word of that in the answer.
        scene.connecting = [&]() -> Task<Fd> {
            std::array<int, 2> ends{};
            sys(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), "socketpair");
            scene.tasks.spawn(speak(make_stream(scene.executor, Fd{ends[1]}),
                                    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
            co_return Fd{ends[0]};
        };
        const std::string request = "GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n";
        const std::string answers = co_await scene.ask(request + request + request);
        EXPECT_EQ(http::testing::count_of(answers, "HTTP/1.1 200 OK"), 3U);
        EXPECT_EQ(scene.connects, 3U);
    });
}

TEST(Interception, ANewPolicyHoldsForTheNextRequestAndForThoseUnderWay) {
    in_scene([](ReadScene& scene) -> Task<> {
        scene.policy = only({allow("all", {"GET"}, {"/**"})});
        Condition go_on;
        scene.handler = [&](http::Exchange& exchange) -> Task<> {
            co_await exchange.start(200, {}, std::nullopt);
            co_await exchange.write("begun;");
            co_await go_on.wait();
            co_await exchange.finish_with("ended");
        };
        const auto program = scene.program();
        co_await program->write_all("GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n");
        (void)co_await read_until(*program, "begun;\r\n");
        EXPECT_TRUE(scene.reader->still_passes());
        scene.policy = only({allow("other", {"GET"}, {"/y"})});
        EXPECT_FALSE(scene.reader->still_passes());
        go_on.notify_all();
        (void)co_await read_until(*program, "0\r\n\r\n");
        co_await program->write_all("GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n");
        EXPECT_TRUE((co_await read_until(*program, "\r\n\r\n")).starts_with("HTTP/1.1 403"));
        EXPECT_EQ(scene.seen.size(), 1U);
    });
}

TEST(Interception, CountsBothDirectionsAndEndsAtOnce) {
    in_scene([](ReadScene& scene) -> Task<> {
        scene.handler = [](http::Exchange& exchange) -> Task<> {
            (void)co_await exchange.read_whole_body(1 << 20);
            co_await exchange.start(200, {}, std::nullopt);
            co_await exchange.write(std::string(50'000, 'x'));
            co_await exchange.client_gone();
        };
        const auto program = scene.program();
        co_await program->write_all("POST /x HTTP/1.1\r\nHost: a.test\r\nContent-Length: 10000\r\n\r\n" +
                                    std::string(10'000, 'y'));
        (void)co_await read_until(*program, "xxxx\r\n");
        EXPECT_GT(scene.reader->meter().up(), 10'000U);
        EXPECT_GT(scene.reader->meter().down(), 50'000U);
        scene.reader->cut();
        co_await scene.tasks.wait_idle();
        EXPECT_FALSE(scene.reader->meter().was_idle());
    });
}

TEST(Interception, EndsAConnectionOnWhichNothingMoves) {
    in_scene([](ReadScene& scene) -> Task<> {
        scene.limits.idle = Millis{50};
        const auto program = scene.program();
        co_await program->write_all("GET /slow-loris HTTP/1.1\r\nHost:");
        co_await with_timeout(kSoon, "the end", scene.tasks.wait_idle());
        EXPECT_EQ(scene.connects, 0U);
    });
}

// What changes requests on their way out: here it puts in a field, hides a path and stops what should not
// leave.
class Clerk final : public http::RequestTransform {
public:
    std::size_t wants_body(const http::OutgoingRequest& request) const override {
        return request.target == "/form" ? 64 : 0;
    }
    Task<Result<void>> apply(http::OutgoingRequest& request) override {
        if (request.target == "/stop") co_return refuse(Errc::denied, "secret s expired");
        request.fields.set("Authorization", "Bearer true");
        if (request.body) request.body->append("&key=true");
        co_return Result<void>{};
    }
    std::unique_ptr<http::BodyWatch> watch(const http::OutgoingRequest&) override {
        class Watch final : public http::BodyWatch {
        public:
            Result<void> pass(std::string_view piece) override {
                if (piece.contains("placeholder")) return refuse(Errc::denied, "a placeholder in the body");
                return {};
            }
        };
        return std::make_unique<Watch>();
    }
    bool may_look_up(const std::string&) override { return true; }
    bool may_record(std::string_view text) const override { return !text.contains("placeholder"); }
    std::unique_ptr<http::AnswerFilter> filter(const http::OutgoingRequest&) override {
        class Filter final : public http::AnswerFilter {
        public:
            std::string field(std::string_view value) override {
                return value.contains("hidden") ? "******" : std::string{value};
            }
            void feed(std::string_view piece, std::string& out) override {
                held_ += piece;
                out.append(held_, 0, held_.size() - 1);
                held_.erase(0, held_.size() - 1);
            }
            void finish(std::string& out) override { out.append(held_.size(), '*'); }

        private:
            std::string held_;
        };
        return std::make_unique<Filter>();
    }
};

TEST(Interception, AnAnswerPassesThroughWhoeverLooksAtIt) {
    in_scene([](ReadScene& scene) -> Task<> {
        Clerk clerk;
        scene.transform = &clerk;
        scene.handler = [](http::Exchange& exchange) -> Task<> {
            if (exchange.request().path == "/sized") {
                co_await exchange.respond(200, {{"X-Echo", "hidden"}}, "0123456789");
                co_return;
            }
            co_await exchange.start(200, {}, std::nullopt);
            co_await exchange.write("01234");
            co_await exchange.write("56789");
            co_await exchange.finish();
        };
        const std::string sized = co_await scene.ask("GET /sized HTTP/1.1\r\nHost: a.test\r\n\r\n");
        EXPECT_TRUE(has(sized, "X-Echo: ******") && has(sized, "Content-Length: 10") &&
                    has(sized, "012345678*"))
            << sized;
        const std::string streamed = co_await scene.ask("GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n");
        EXPECT_TRUE(has(streamed, "\r\n*\r\n0\r\n\r\n")) << streamed;
    });
}

TEST(Interception, LetsSomebodyElseChangeOrStopWhatLeaves) {
    in_scene([](ReadScene& scene) -> Task<> {
        Clerk clerk;
        scene.transform = &clerk;
        int whole = 0;
        scene.handler = [&](http::Exchange& exchange) -> Task<> {
            std::string body = co_await exchange.read_whole_body(1 << 20);
            ++whole;
            co_await exchange.respond(
                200, {}, std::string{exchange.request().fields.get("Authorization")} + "|" + body + "||");
        };
        EXPECT_TRUE(has(co_await scene.ask("GET /x HTTP/1.1\r\nHost: a.test\r\nAuthorization: mine\r\n\r\n"),
                        "Bearer true||"));
        EXPECT_TRUE(
            has(co_await scene.ask("POST /form HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\n\r\na=b"),
                "Bearer true|a=b&key=true|"));
        EXPECT_TRUE(has(co_await scene.ask("GET /stop HTTP/1.1\r\nHost: a.test\r\n\r\n"),
                        "refused: secret s expired"));
        const std::string leak =
            co_await scene.ask("POST /x HTTP/1.1\r\nHost: a.test\r\nContent-Length: 13\r\n\r\na placeholder");
        EXPECT_TRUE(leak.starts_with("HTTP/1.1 403") && has(leak, "a placeholder in the body")) << leak;
        (void)co_await scene.ask("GET /my-placeholder HTTP/1.1\r\nHost: a.test\r\n\r\n");
        EXPECT_TRUE(scene.log.has("http.request", "\"path\":\"(withheld)\""));
        EXPECT_FALSE(scene.log.has("http.request", "my-placeholder"));
        EXPECT_EQ(whole, 3);
    });
}

}  // namespace
}  // namespace oyat::egress
