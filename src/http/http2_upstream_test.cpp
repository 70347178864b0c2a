#include "http/http2_upstream.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "http/http2_client_for_tests.hpp"
#include "http/trailers.hpp"
#include "io/run.hpp"
#include "io/task_group.hpp"
#include "io/timer.hpp"

namespace oyat::http {
namespace {

using namespace testing;

// A server with trailers: "/echo" gives the body back, "/head-only" ends with its head, "/broken" in the
// middle.
Task<> world(Exchange& exchange) {
    const std::string path = exchange.request().path;
    if (path == "/head-only") {
        co_await exchange.start(200, {{"grpc-status", "5"}}, 0);
        co_return co_await exchange.finish();
    }
    co_await exchange.start(200, {{"Content-Type", "application/grpc"}}, std::nullopt);
    if (path == "/broken") {
        co_await exchange.write("the beginning");
        co_return exchange.abort();
    }
    std::string piece(64 * 1024, '\0');
    while (const std::size_t got = co_await exchange.read_body(piece)) {
        co_await exchange.write({piece.data(), got});
    }
    dynamic_cast<TakesTrailers&>(exchange).set_trailers({{"grpc-status", "0"}, {"grpc-message", "fine"}});
    co_await exchange.finish();
}

// One request of a client, through a passage in the middle. `wanted` says why there was none.
struct Scene {
    Http2Answer answer;
    std::string failure;
};

Task<Scene> ask(std::string path, std::string body, AnswerFilter* filter = nullptr) {
    const Executor executor = co_await boost::asio::this_coro::executor;
    Scene scene;
    Http2Served server{executor, world};
    std::unique_ptr<Stream> upstream = std::move(server.client);
    Http2Served middle{executor, [&](Exchange& exchange) -> Task<> {
                           UpstreamConnection connection{.stream = std::move(upstream), .http2 = true};
                           const RequestHead& head = exchange.request();
                           Passing passing;
                           passing.answer_fields = [](const ResponseHead& answer) { return answer.fields; };
                           passing.answer_filter = filter;
                           passing.answer_limit = Millis{5'000};
                           try {
                               co_await pass_http2_exchange(exchange, connection,
                                                            {{":method", head.method},
                                                             {":scheme", "https"},
                                                             {":authority", "b.test"},
                                                             {":path", head.target},
                                                             {"te", "trailers"}},
                                                            std::move(passing));
                           } catch (const Error& error) {
                               scene.failure = error.message();
                               throw;
                           }
                       }};
    Http2Client client{std::move(middle.client)};
    const std::int32_t stream = client.ask("POST", path, std::move(body), {{"te", "trailers"}});
    co_await client.until_answered(stream);
    scene.answer = client.answers[stream];
    co_await middle.close();
    co_await server.close();
    co_return scene;
}

TEST(Http2Upstream, PassesBodiesOfAnyLengthAndTheTrailersBehindThem) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{5}, std::size_t{3} << 20}) {
        const Scene scene = run(ask("/echo", std::string(size, 'x')));
        EXPECT_EQ(scene.answer.status, 200) << size;
        EXPECT_EQ(scene.answer.body.size(), size);
        EXPECT_EQ(scene.answer.fields.at("grpc-status"), "0") << size;
        EXPECT_EQ(scene.answer.fields.at("grpc-message"), "fine");
        EXPECT_EQ(scene.answer.reason, 0U);
    }
}

TEST(Http2Upstream, AnAnswerThatEndsWithItsHeadDoesSoForTheProgram) {
    const Scene scene = run(ask("/head-only", "x"));
    EXPECT_EQ(scene.answer.status, 200);
    EXPECT_EQ(scene.answer.fields.at("grpc-status"), "5");
    EXPECT_EQ(scene.answer.body, "");
}

TEST(Http2Upstream, AnAnswerThatBreaksOffIsNotTakenForTheWhole) {
    const Scene scene = run(ask("/broken", "x"));
    EXPECT_EQ(scene.answer.body, "the beginning");
    EXPECT_NE(scene.answer.reason, 0U);
}

TEST(Http2Upstream, WhoeverLooksAtTheAnswerSeesItsBody) {
    class Upper final : public AnswerFilter {
    public:
        std::string field(std::string_view value) override { return std::string{value}; }
        void feed(std::string_view piece, std::string& out) override { out.append(piece.size(), '*'); }
        void finish(std::string& out) override { out += "!"; }
    } filter;
    EXPECT_EQ(run(ask("/echo", "hello", &filter)).answer.body, "*****!");
}

enum class Then { ends, stays };

// Once it was asked.
Task<> say(Stream& server, std::string bytes, Then then) {
    std::array<char, 4096> asked{};
    (void)co_await server.read_some(asked);
    co_await sleep_for(Millis{5});  // all that is to be sent was sent
    co_await server.write_all(bytes);
    if (then == Then::ends) server.shutdown_write();
}

Task<std::string> ask_one_that_says(std::string bytes, Then then = Then::ends) {
    const Executor executor = co_await boost::asio::this_coro::executor;
    std::array<int, 2> ends{};
    sys(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), "socketpair");
    std::unique_ptr<Stream> upstream = make_stream(executor, Fd{ends[0]});
    const std::unique_ptr<Stream> server = make_stream(executor, Fd{ends[1]});
    TaskGroup tasks{executor};
    tasks.spawn(say(*server, std::move(bytes), then));
    std::string failure;
    Http2Served middle{
        executor, [&](Exchange& exchange) -> Task<> {
            UpstreamConnection connection{.stream = std::move(upstream), .http2 = true};
            Passing passing;
            passing.answer_fields = [](const ResponseHead& answer) { return answer.fields; };
            try {
                co_await pass_http2_exchange(
                    exchange, connection,
                    {{":method", "GET"}, {":scheme", "https"}, {":authority", "b"}, {":path", "/"}},
                    std::move(passing));
            } catch (const Error& error) {
                failure = error.message();
                throw;
            }
        }};
    Http2Client client{std::move(middle.client)};
    co_await client.until_answered(client.ask("GET", "/"));
    co_await middle.close();
    co_await tasks.close();
    co_return failure;
}

TEST(Http2Upstream, AServerThatSpeaksSomethingElseOrEndsIsAFailure) {
    for (const std::string& bytes :
         {std::string{}, std::string{"HTTP/1.1 200 OK\r\n\r\n"}, std::string(100, '\0')}) {
        EXPECT_EQ(run(ask_one_that_says(bytes)), "the server ended HTTP/2 without an answer") << bytes;
    }
}

TEST(Http2Upstream, NobodyWaitsForAServerWhoseAnswerIsNone) {
    const std::string settings("\0\0\0\x4\0\0\0\0\0", 9);
    const std::string head_without_status(
        "\0\0\x7\x1\x5\0\0\0\x1\0\x3x-a\x1"
        "1",
        16);
    const std::string frame_beyond_all_bounds("\xff\xff\xff\0\0\0\0\0\x1", 9);
    for (const std::string& bytes : {settings + head_without_status, settings + frame_beyond_all_bounds,
                                     std::string{"HTTP/1.1 200 OK\r\n\r\n"}}) {
        EXPECT_EQ(run(ask_one_that_says(bytes, Then::stays)), "the server ended HTTP/2 without an answer");
    }
}

}  // namespace
}  // namespace oyat::http
