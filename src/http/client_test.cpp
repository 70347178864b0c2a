#include "http/client.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "http/loopback.hpp"
#include "io/run.hpp"

namespace oyat::http {
namespace {

using namespace std::chrono_literals;
using namespace testing;

Task<> answer(Exchange& exchange) {
    std::string body = co_await exchange.read_whole_body(1000);
    if (exchange.request().path == "/stream") {
        co_await exchange.start(200, {}, std::nullopt);
        co_await exchange.write(body);
        co_await exchange.write(body);
        co_await exchange.finish();
    } else {
        co_await exchange.respond(exchange.request().path == "/missing" ? 404 : 200, {{"X", "y"}}, body);
    }
}

ClientRequest post(std::string target, std::string body) {
    return {
        .method = "POST", .target = std::move(target), .fields = {{"Host", "a"}}, .body = std::move(body)};
}

Task<> ask(std::string url) {
    ClientConnection client{co_await connect_to(co_await boost::asio::this_coro::executor, url)};
    const ResponseHead head = co_await client.send(post("/", "hello"));
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.fields.get("x"), "y");
    EXPECT_EQ(head.content_length, 5u);
    EXPECT_EQ(co_await client.read_whole_body(100), "hello");
    // A body that nobody reads is not in the way of the next answer.
    EXPECT_EQ((co_await client.send(post("/stream", "skipped"))).status, 200);
    EXPECT_EQ((co_await client.send(post("/missing", ""))).status, 404);
    EXPECT_EQ((co_await client.send(post("/stream", "ab"))).content_length, std::nullopt);
    EXPECT_EQ(co_await client.read_whole_body(4), "abab");
    EXPECT_EQ((co_await client.send(post("/stream", "ab"))).status, 200);
    EXPECT_THROW(co_await client.read_whole_body(3), Error);
}

Task<> serve_and_ask() {
    std::string directory = ::testing::TempDir() + "oyatXXXXXX";
    EXPECT_NE(::mkdtemp(directory.data()), nullptr);
    const std::string path = directory + "/s";
    Server server{co_await boost::asio::this_coro::executor, answer};
    const std::string port = std::to_string(server.listen("127.0.0.1", 0));
    server.listen_unix(path, 0600);
    co_await ask("http://127.0.0.1:" + port + "/ignored");
    co_await ask("http://localhost:" + port);
    co_await ask("unix:" + path);
    co_await server.close(1s);
    ::unlink(path.c_str());
    ::rmdir(directory.c_str());
}

TEST(ClientConnection, ReusesOneConnection) {
    run(serve_and_ask());
}

Task<Errc> connect_error(std::string url) {
    try {
        co_await connect_to(co_await boost::asio::this_coro::executor, url);
    } catch (const Error& e) {
        co_return e.code();
    }
    co_return Errc::internal;
}

TEST(ConnectTo, RefusesWhatIsNoUrl) {
    for (const char* url :
         {"", "127.0.0.1:80", "ftp://a", "http://", "http://a:b", "http://a:70000", "unix:"}) {
        EXPECT_EQ(run(connect_error(url)), Errc::invalid_argument) << url;
    }
    EXPECT_EQ(run(connect_error("unix:/nonexistent/socket")), Errc::unavailable);
}

}  // namespace
}  // namespace oyat::http
