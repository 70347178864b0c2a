#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "http/http2_client_for_tests.hpp"
#include "http/loopback.hpp"
#include "io/gate.hpp"
#include "io/run.hpp"

namespace oyat::http {
namespace {

using namespace std::chrono_literals;
using namespace testing;

Task<> echo(Exchange& exchange) {
    const RequestHead& head = exchange.request();
    std::string body = co_await exchange.read_whole_body(16 << 20);
    if (co_await answered_oddly(exchange)) co_return;
    if (head.path == "/throw") {
        throw Error{Errc::internal, "it broke"};
    } else if (head.path == "/body") {
        co_await exchange.respond(200, {}, std::move(body));
    } else {
        co_await exchange.respond(
            200, {{"X-Seen", head.host + " " + head.peer}, {"Connection", "close"}},
            head.method + " " + head.target + " [" + body + "] " + std::string{head.fields.get("Cookie")});
    }
}

Task<Http2Answer> ask(std::string method, std::string path, std::string body = {},
                      Http2Client::Pairs more = {}, ServerOptions options = {}) {
    Http2Served served{co_await boost::asio::this_coro::executor, echo, options};
    Http2Client client{std::move(served.client)};
    const std::int32_t stream = client.ask(method, path, std::move(body), more);
    co_await client.until_answered(stream);
    co_await served.close();
    co_return client.answers[stream];
}

TEST(Http2, AnswersARequest) {
    const Http2Answer answer = run(ask("GET", "/a?b=c", {}, {{"cookie", "a=1"}, {"cookie", "b=2"}}));
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "GET /a?b=c [] a=1; b=2");
    EXPECT_EQ(answer.fields.at("x-seen"), "a.test 192.0.2.7");
    EXPECT_EQ(answer.fields.at("content-length"), std::to_string(answer.body.size()));
    EXPECT_TRUE(answer.fields.contains("date"));
    EXPECT_FALSE(answer.fields.contains("connection"));  // HTTP/2 has no such field
    EXPECT_EQ(answer.reason, 0u);
}

TEST(Http2, AnswersInPieces) {
    const Http2Answer answer = run(ask("GET", "/stream"));
    EXPECT_EQ(answer.body, "one,two");
    EXPECT_FALSE(answer.fields.contains("content-length"));
}

TEST(Http2, CarriesBodiesLargerThanAnyWindow) {
    std::string body(5 << 20, 'x');
    for (std::size_t at = 0; at < body.size(); at += 1000) body[at] = static_cast<char>('a' + at % 26);
    EXPECT_TRUE(run(ask("POST", "/body", body)).body == body);
}

// A reset tells the client to stop sending (RFC 9113, 8.1); it must not overtake an answer that is all head.
TEST(Http2, AnAnswerWithoutABodyReachesAClientThatIsStillSending) {
    const auto answer_at_once = [](Exchange& exchange) -> Task<> { co_await exchange.respond(204, {}, {}); };
    const auto ask_it = [](auto handler) -> Task<Http2Answer> {
        Http2Served served{co_await boost::asio::this_coro::executor, handler};
        Http2Client client{std::move(served.client)};
        const std::int32_t stream = client.ask("POST", "/", std::string(4 << 20, 'x'));
        co_await client.until_answered(stream);
        co_await served.close();
        co_return client.answers[stream];
    };
    EXPECT_EQ(run(ask_it(answer_at_once)).status, 204);
}

TEST(Http2, AHeadHasNoBody) {
    const Http2Answer answer = run(ask("HEAD", "/a"));
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "");
    EXPECT_EQ(answer.fields.at("content-length"), "11");
}

TEST(Http2, WhatAHandlerThrowsIsA500OrAnAbortedAnswer) {
    const Http2Answer before = run(ask("GET", "/throw"));
    EXPECT_EQ(before.status, 500);
    EXPECT_EQ(before.body, R"({"code":500,"message":"it broke"})");
    EXPECT_EQ(run(ask("GET", "/break")).reason, NGHTTP2_INTERNAL_ERROR);
    EXPECT_EQ(run(ask("GET", "/short")).reason, NGHTTP2_INTERNAL_ERROR);
}

TEST(Http2, AHeadTooLongIs431) {
    EXPECT_EQ(run(ask("GET", "/", {}, {{"x-long", std::string(3000, 'a')}}, {.max_head_bytes = 2048})).status,
              431);
}

TEST(Http2, AMalformedRequestIs400) {
    EXPECT_EQ(run(ask("GET", "/", {}, {{"host", "other.test"}})).status, 400);
    // Some of it the library refuses by itself.
    EXPECT_EQ(run(ask("GET", "http://other.test/")).reason, NGHTTP2_PROTOCOL_ERROR);
}

Task<> two_at_once() {
    const Executor executor = co_await boost::asio::this_coro::executor;
    Gate open;
    Http2Served served{executor, [&open](Exchange& exchange) -> Task<> {
                           if (exchange.request().path == "/slow") co_await open.pass();
                           co_await exchange.respond(200, {}, "done");
                       }};
    Http2Client client{std::move(served.client)};
    const std::int32_t slow = client.ask("GET", "/slow");
    const std::int32_t quick = client.ask("GET", "/quick");
    co_await client.until_answered(quick);
    EXPECT_FALSE(client.answers[slow].closed);
    open.open();
    co_await client.until_answered(slow);
    EXPECT_EQ(client.answers[slow].body, "done");
    co_await served.close();
}

TEST(Http2, ASlowRequestHoldsNoOtherBack) {
    run(two_at_once());
}

Task<> stalled_upload() {
    const Executor executor = co_await boost::asio::this_coro::executor;
    Gate open;
    Http2Served served{executor, [&open](Exchange& exchange) -> Task<> {
                           if (exchange.request().path == "/stalled") co_await open.pass();
                           const std::string body = co_await exchange.read_whole_body(64 << 20);
                           co_await exchange.respond(200, {}, std::to_string(body.size()));
                       }};
    Http2Client client{std::move(served.client)};
    const std::int32_t stalled = client.ask("POST", "/stalled", std::string(8 << 20, 'x'));
    const std::int32_t other = client.ask("POST", "/other", std::string(2 << 20, 'x'));
    co_await client.until_answered(other);
    EXPECT_EQ(client.answers[other].body, std::to_string(2 << 20));
    open.open();
    co_await client.until_answered(stalled);
    EXPECT_EQ(client.answers[stalled].body, std::to_string(8 << 20));
    co_await served.close();
}

TEST(Http2, AnUploadThatNobodyReadsHoldsNoOtherBack) {
    run(stalled_upload());
}

Task<> slow_reader() {
    const Executor executor = co_await boost::asio::this_coro::executor;
    std::size_t written = 0;
    Http2Served served{executor, [&written](Exchange& exchange) -> Task<> {
                           const std::string piece(10'000, 'x');
                           co_await exchange.start(200, {}, std::nullopt);
                           for (int i = 0; i < 1000; ++i) {
                               co_await exchange.write(piece);
                               written += piece.size();
                           }
                           co_await exchange.finish();
                       }};
    Http2Client client{std::move(served.client), Http2Client::Windows::shut};
    const std::int32_t stream = client.ask("GET", "/");
    co_await client.until([&] { return client.answers[stream].body.size() == 65'535; });
    for (int turn = 0; turn < 50; ++turn) co_await yield_now();
    EXPECT_LE(written, 65'535u);
    co_await served.close();
}

TEST(Http2, AClientThatReadsNothingStopsTheHandler) {
    run(slow_reader());
}

Task<> reset_by_client() {
    const Executor executor = co_await boost::asio::this_coro::executor;
    Gate running;
    Gate gone;
    Http2Served served{executor, [&](Exchange& exchange) -> Task<> {
                           if (exchange.request().path == "/left") {
                               running.open();
                               co_await exchange.client_gone();
                               gone.open();
                           }
                           co_await exchange.respond(200, {}, "here");
                       }};
    Http2Client client{std::move(served.client)};
    const std::int32_t left = client.ask("GET", "/left");
    co_await client.flush();
    co_await running.pass();
    client.reset(left);
    co_await client.flush();
    co_await with_timeout(20s, "the news", gone.pass());
    const std::int32_t next = client.ask("GET", "/next");
    co_await client.until_answered(next);
    EXPECT_EQ(client.answers[next].body, "here");
    co_await served.close();
}

TEST(Http2, AHandlerLearnsThatItsClientWentAway) {
    run(reset_by_client());
}

Task<> half_an_upload() {
    const Executor executor = co_await boost::asio::this_coro::executor;
    Http2Served served{executor, echo, {.body_timeout = Millis{50}}};
    Http2Client client{std::move(served.client)};
    // The rest of the announced body never comes: the test's client sends what it has and waits.
    const std::string frames = std::string{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"} + std::string(3, '\0') +
                               std::string("\x04\x00\x00\x00\x00\x00", 6);
    co_await client.stream().write_all(frames);
    // POST https / with :authority "a" as literals of HPACK (RFC 7541, C.2): no END_STREAM.
    const std::string block(
        "\x83\x87\x84\x41\x01"
        "a",
        6);
    std::string head(9, '\0');
    head[2] = static_cast<char>(block.size());
    head[3] = 1;
    head[4] = 4;
    head[8] = 1;
    co_await client.stream().write_all(head + block);
    std::string seen;
    std::array<char, 4096> buffer;
    while (seen.find("came too slowly") == std::string::npos) {
        const std::size_t got = co_await with_timeout(20s, "the refusal", client.stream().read_some(buffer));
        if (got == 0) break;
        seen.append(buffer.data(), got);
    }
    EXPECT_NE(seen.find("came too slowly"), std::string::npos);
    co_await served.close();
}

TEST(Http2, ABodyThatDoesNotComeIs408) {
    run(half_an_upload());
}

Task<> farewell() {
    const Executor executor = co_await boost::asio::this_coro::executor;
    Gate running;
    Gate open;
    Http2Served served{executor, [&](Exchange& exchange) -> Task<> {
                           running.open();
                           co_await open.pass();
                           co_await exchange.respond(200, {}, "done");
                       }};
    Http2Client client{std::move(served.client)};
    const std::int32_t last = client.ask("GET", "/");
    co_await client.flush();
    co_await running.pass();
    served.connection->end_soon();
    co_await client.until([&] { return client.goaway; });
    open.open();
    co_await client.until([] { return false; });
    EXPECT_EQ(client.answers[last].body, "done");
    EXPECT_TRUE(client.server_left);
    client.stream().close();
    co_await served.ended();
}

TEST(Http2, EndsAfterTheAnswersThatRun) {
    run(farewell());
}

Task<> take_over() {
    Http2Served served{co_await boost::asio::this_coro::executor, [](Exchange& exchange) -> Task<> {
                           (void)co_await exchange.take_over("HTTP/1.1 101 Switching Protocols\r\n\r\n");
                       }};
    Http2Client client{std::move(served.client)};
    const std::int32_t stream = client.ask("GET", "/");
    co_await client.until_answered(stream);
    EXPECT_EQ(client.answers[stream].status, 500);
    co_await served.close();
}

TEST(Http2, NobodyTakesAConnectionFromItsOtherRequests) {
    run(take_over());
}

}  // namespace
}  // namespace oyat::http
