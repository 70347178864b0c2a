#include "http/proxy.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "http/client.hpp"
#include "http/loopback.hpp"
#include "http/proxy_fields.hpp"
#include "io/acceptor.hpp"
#include "io/gate.hpp"
#include "io/listen.hpp"
#include "io/run.hpp"
#include "io/task_group.hpp"

namespace oyat::http {
namespace {

using namespace std::chrono_literals;
using namespace testing;

// A server in a sandbox: takes connections, keeps what it was sent and answers the same bytes to each, then
// closes.
class Upstream {
public:
    Upstream(Executor executor, std::string answer)
        : acceptor_{executor, listen_tcp(or_throw(SocketAddress::ip("127.0.0.1", 0)))},
          answer_{std::move(answer)},
          group_{executor} {
        group_.spawn(accept_all());
    }

    [[nodiscard]] std::uint16_t port() const { return local_address(acceptor_.native_fd()).port(); }
    [[nodiscard]] const std::vector<std::string>& requests() const { return requests_; }
    Task<> close() { return group_.close(); }

private:
    Task<> accept_all() {
        for (;;) {
            Fd socket = (co_await acceptor_.accept()).socket;
            group_.spawn(serve(make_stream(group_.executor(), std::move(socket))));
        }
    }
    Task<> serve(std::unique_ptr<Stream> stream) {
        const std::size_t number = requests_.size();
        requests_.emplace_back(co_await read_until(*stream, "\r\n\r\n"));
        co_await stream->write_all(answer_);
        stream->shutdown_write();
        requests_[number] += co_await read_to_end(*stream);
    }

    Acceptor acceptor_;
    std::string answer_;
    std::vector<std::string> requests_;
    TaskGroup group_;
};

Task<> pass_on(Exchange& exchange, std::uint16_t port) {
    std::optional<Error> failure;
    try {
        ProxyOptions options;
        options.extra_fields = {{"X-Forwarded-For", "10.0.0.1"}};
        options.dropped_fields = {"X-Secret"};
        co_await proxy_exchange(exchange, co_await connect_loopback(port), std::move(options));
    } catch (const Error& e) {
        if (e.code() != Errc::unavailable || exchange.started()) throw;
        failure = e;
    }
    if (failure) co_await exchange.respond(502, {}, failure->message());
}

struct Seen {
    std::string answer;
    std::vector<std::string> requests;
};

// What a client gets for its bytes, and the upstream is sent, with the proxy between them.
Task<Seen> through_proxy(std::string request, std::string answer) {
    const Executor executor = co_await boost::asio::this_coro::executor;
    Upstream upstream{executor, std::move(answer)};
    Server server{executor, [port = upstream.port()](Exchange& exchange) { return pass_on(exchange, port); }};
    Seen seen{.answer = co_await exchange_raw(server.listen("127.0.0.1", 0), std::move(request)),
              .requests = {}};
    co_await server.close(1s);
    co_await upstream.close();
    seen.requests = upstream.requests();
    co_return seen;
}

const std::string kGet = "GET /a?b HTTP/1.1\r\nHost: a.example.org\r\nConnection: close\r\n\r\n";

TEST(Proxy, PassesARequestWrittenAnew) {
    const Seen seen = run(through_proxy(
        "POST /a%2Fb?c=d HTTP/1.1\r\nHost: A.example.org:81\r\nconnection: close, X-Hop\r\nX-Hop: "
        "1\r\nX-Secret: 1\r\n"
        "X-Forwarded-For: 1.2.3.4\r\nKeep-Alive: 1\r\nTE: trailers\r\nX-Keep:  a \r\nContent-Length: "
        "3\r\n\r\nabc",
        "HTTP/1.1 201 Made\r\nContent-Length: 2\r\nConnection: X-Hop\r\nX-Hop: 1\r\nX: y\r\n\r\nok"));
    ASSERT_EQ(seen.requests.size(), 1u);
    EXPECT_EQ(
        seen.requests[0],
        "POST /a%2Fb?c=d HTTP/1.1\r\nHost: A.example.org:81\r\nX-Keep: a\r\nX-Forwarded-For: 10.0.0.1\r\n"
        "Content-Length: 3\r\nConnection: close\r\n\r\nabc");
    EXPECT_TRUE(seen.answer.starts_with("HTTP/1.1 201 Created\r\nX: y\r\n")) << seen.answer;
    EXPECT_FALSE(has(seen.answer, "X-Hop")) << seen.answer;
    EXPECT_TRUE(seen.answer.ends_with("\r\n\r\nok")) << seen.answer;
}

TEST(Proxy, WritesChunksAnew) {
    const Seen seen = run(
        through_proxy("POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
                      "1;ext=1\r\na\r\n002\r\nbc\r\n0\r\nX-Trailer: 1\r\n\r\n",
                      "HTTP/1.1 200 OK\r\nTransfer-Encoding: "
                      "chunked\r\n\r\n1;ext\r\nx\r\n002\r\nyz\r\n0\r\nX-Trailer: 1\r\n\r\nextra"));
    ASSERT_EQ(seen.requests.size(), 1u);
    EXPECT_TRUE(seen.requests[0].ends_with("\r\n\r\n3\r\nabc\r\n0\r\n\r\n")) << seen.requests[0];
    EXPECT_TRUE(seen.answer.ends_with("\r\n\r\n3\r\nxyz\r\n0\r\n\r\n")) << seen.answer;
}

// Threats C-05: the upstream sees exactly the requests that we saw.
TEST(Proxy, LetsNoSecondRequestThrough) {
    const std::string smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
    for (
        const std::string& request : {
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" +
                smuggled,
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nHost: b\r\n\r\n" + smuggled,
            "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n" + smuggled,
        }) {
        const Seen seen = run(through_proxy(request, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
        EXPECT_LE(seen.requests.size(), 1u) << request;
        for (const std::string& got : seen.requests)
            EXPECT_FALSE(has(got, "smuggled")) << request << "\n" << got;
    }
}

TEST(Proxy, EachExchangeHasItsOwnConnection) {
    const Seen seen = run(through_proxy("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n" + kGet,
                                        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n!"));
    EXPECT_EQ(seen.requests.size(), 2u);
    EXPECT_EQ(count_of(seen.answer, "HTTP/1.1 200 OK"), 2u) << seen.answer;
}

// Threats C-06: what a sandbox may try with its answers.
TEST(Proxy, DropsWhatComesBehindAnAnswer) {
    const Seen seen = run(through_proxy(
        kGet,
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"));
    EXPECT_EQ(count_of(seen.answer, "HTTP/1.1"), 1u) << seen.answer;
    EXPECT_TRUE(seen.answer.ends_with("\r\n\r\nok")) << seen.answer;
}

TEST(Proxy, PassesABodyThatEndsWithTheConnection) {
    const Seen seen = run(through_proxy(kGet, "HTTP/1.0 200 OK\r\n\r\nall of it"));
    EXPECT_TRUE(seen.answer.ends_with("\r\n\r\n9\r\nall of it\r\n0\r\n\r\n")) << seen.answer;
}

TEST(Proxy, ABodyThatEndsTooEarlyDoesNotLookWhole) {
    for (const char* answer :
         {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcX\r\n0\r\n\r\n"}) {
        const Seen seen = run(through_proxy(kGet, answer));
        EXPECT_TRUE(seen.answer.empty() || seen.answer.starts_with("HTTP/1.1 200 OK")) << seen.answer;
        EXPECT_FALSE(seen.answer.ends_with("0\r\n\r\n")) << seen.answer;
    }
}

TEST(Proxy, TellsWhenTheUpstreamDoesNotSpeakHttp) {
    std::string flood;
    for (int i = 0; i < 100; ++i) flood += "HTTP/1.1 103 Early Hints\r\n\r\n";
    for (const std::string& answer : {
             std::string{""},
             std::string{"HTTP/1.1 200"},
             std::string{"SSH-2.0-OpenSSH\r\n\r\n"},
             std::string{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"},
             std::string{"HTTP/1.1 200 OK\nX: y\n\n"},
             std::string{"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"},
             "HTTP/1.1 200 OK\r\nX: " + std::string(1 << 20, 'x') + "\r\n\r\n",
             flood + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
         }) {
        const Seen seen = run(through_proxy(kGet, answer));
        EXPECT_TRUE(seen.answer.starts_with("HTTP/1.1 502 ")) << answer.substr(0, 80) << "\n" << seen.answer;
        EXPECT_EQ(count_of(seen.answer, "HTTP/1.1 "), 1u) << seen.answer;
    }
}

TEST(Proxy, PassesOverAFewInterimAnswers) {
    const Seen seen =
        run(through_proxy(kGet,
                          "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
                          "HTTP/1.1 204 No Content\r\n\r\n"));
    EXPECT_TRUE(seen.answer.starts_with("HTTP/1.1 204 ")) << seen.answer;
    EXPECT_FALSE(has(seen.answer, "Link")) << seen.answer;
}

TEST(Proxy, ALongRequestMayBeAnsweredEarly) {
    const Seen seen = run(through_proxy(
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n" + std::string(4'000'000, 'x'),
        "HTTP/1.1 413 Too Long\r\nContent-Length: 3\r\n\r\nno!"));
    EXPECT_TRUE(seen.answer.starts_with("HTTP/1.1 413 ")) << seen.answer;
    EXPECT_TRUE(has(seen.answer, "Connection: close")) << seen.answer;
}

Task<> web_socket() {
    const Executor executor = co_await boost::asio::this_coro::executor;
    Server back{executor, [](Exchange& exchange) -> Task<> {
                    EXPECT_TRUE(exchange.request().wants_upgrade);
                    auto stream = co_await exchange.take_over(
                        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                        "Sec-WebSocket-Accept: abc\r\n\r\nhello ");
                    std::array<char, 1024> buffer;
                    while (const std::size_t got = co_await stream->read_some(buffer)) {
                        co_await stream->write_all({buffer.data(), got});
                    }
                }};
    Server server{executor, [port = back.listen("127.0.0.1", 0)](Exchange& exchange) {
                      return pass_on(exchange, port);
                  }};
    auto stream = co_await connect_loopback(server.listen("127.0.0.1", 0));
    co_await stream->write_all(
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\r\nearly ");
    const std::string head = co_await read_until(*stream, "\r\n\r\n");
    EXPECT_EQ(head,
              "HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: abc\r\nConnection: Upgrade\r\n"
              "Upgrade: websocket\r\n\r\n");
    EXPECT_EQ(co_await read_until(*stream, "early "), "hello early ");
    co_await stream->write_all("late");
    stream->shutdown_write();
    EXPECT_EQ(co_await read_to_end(*stream), "late");
    co_await server.close(1s);
    co_await back.close(1s);
}

TEST(Proxy, SplicesAnUpgradedConnection) {
    run(web_socket());
}

Task<> events() {
    const Executor executor = co_await boost::asio::this_coro::executor;
    Gate next;
    bool gone = false;
    Gate over;
    Server back{executor, [&](Exchange& exchange) -> Task<> {
                    co_await exchange.start(200, {{"Content-Type", "text/event-stream"}}, std::nullopt);
                    co_await exchange.write("data: 1\n\n");
                    co_await next.pass();
                    co_await exchange.write("data: 2\n\n");
                    co_await exchange.client_gone();
                    gone = true;
                    over.open();
                }};
    Server server{executor, [port = back.listen("127.0.0.1", 0)](Exchange& exchange) {
                      return pass_on(exchange, port);
                  }};
    auto stream = co_await connect_loopback(server.listen("127.0.0.1", 0));
    co_await stream->write_all("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_TRUE(has(co_await read_until(*stream, "data: 1\n\n\r\n"), "event-stream"));
    next.open();  // the second event only when the first has arrived: nothing is held back
    co_await read_until(*stream, "data: 2\n\n\r\n");
    stream->close();
    co_await over.pass();
    EXPECT_TRUE(gone) << "a client that leaves ends the upstream's work too";
    co_await server.close(1s);
    co_await back.close(1s);
}

TEST(Proxy, PassesEventsAtOnceAndTheClientsLeaving) {
    run(events());
}

TEST(ConfinedCookie, LosesDomainsOtherThanTheHost) {
    const auto confined = [](std::string_view cookie) {
        return confined_cookie(cookie, "3000-i1.example.org");
    };
    EXPECT_EQ(confined("a=b; Path=/; Domain=example.org; Secure"), "a=b; Path=/; Secure");
    EXPECT_EQ(confined("a=b;domain = .Example.org"), "a=b");
    EXPECT_EQ(confined("a=b; DOMAIN=org; Domain=other.example.org"), "a=b");
    EXPECT_EQ(confined("a=b; Domain"), "a=b");
    EXPECT_EQ(confined("a=b; Domain=3000-I1.example.org"), "a=b; Domain=3000-I1.example.org");
    EXPECT_EQ(confined("Domain=x; Path=/"), "Domain=x; Path=/") << "a cookie of that name";
}

TEST(ClientResponseFields, HaveNoWordForOtherHosts) {
    const ResponseHead response{.status = 200,
                                .fields = {{"Strict-Transport-Security", "max-age=1; includeSubDomains"},
                                           {"Clear-Site-Data", "*"},
                                           {"Service-Worker-Allowed", "/"},
                                           {"X", "y"}},
                                .content_length = {}};
    EXPECT_EQ(client_response_fields({}, response, {}).size(), 2u);
    ProxyOptions below_a_path;
    below_a_path.target = "/";
    EXPECT_EQ(client_response_fields({}, response, below_a_path).size(), 1u);
}

}  // namespace
}  // namespace oyat::http
