// Clients that want a connection of HTTP/2 to cost us more than them.

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

Task<> ok(Exchange& exchange) {
    co_await exchange.respond(200, {}, "ok");
}

std::string frame(unsigned char type, unsigned char flags, unsigned char stream, const std::string& payload) {
    std::string bytes(9, '\0');
    bytes[1] = static_cast<char>(payload.size() >> 8);
    bytes[2] = static_cast<char>(payload.size());
    bytes[3] = static_cast<char>(type);
    bytes[4] = static_cast<char>(flags);
    bytes[8] = static_cast<char>(stream);
    return bytes + payload;
}

const std::string kGreeting = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, "");

// Sends the frame again and again until the server ends the connection; how often that was.
Task<int> until_cut_off(std::string first, std::string again, ServerOptions options = {}) {
    Http2Served served{co_await boost::asio::this_coro::executor, ok, options};
    TaskGroup reading{co_await boost::asio::this_coro::executor};
    // A client that does not read would be stopped by its own full socket.
    const auto read = [](Stream& stream) -> Task<> { (void)co_await read_to_end(stream); };
    reading.spawn(read(*served.client));
    int sent = 0;
    try {
        co_await served.client->write_all(kGreeting + first);
        for (; sent < 100'000; ++sent) {
            co_await served.client->write_all(again);
            if (sent % 100 == 0) co_await yield_now();
        }
    } catch (const Error&) {
        // Cut off.
    }
    co_await reading.close();
    co_await served.close();
    co_return sent;
}

TEST(Http2Attack, AFloodOfPingsEndsTheConnection) {
    EXPECT_LT(run(until_cut_off("", frame(6, 0, 0, "12345678"))), 50'000);
}

TEST(Http2Attack, AFloodOfSettingsEndsTheConnection) {
    EXPECT_LT(run(until_cut_off("", frame(4, 0, 0, ""))), 50'000);
}

TEST(Http2Attack, AHeadWithoutEndEndsTheConnection) {
    const std::string head = frame(1, 0, 1, "\x82\x87\x84");  // GET https /, END_HEADERS missing
    EXPECT_LT(run(until_cut_off(head, frame(9, 0, 1, std::string("\x00\x01x\x01y", 5)))), 50'000);
}

// Whoever answers for a client hears of what it tried, also where no request came of it.
Task<> refusals_are_told(std::string bytes) {
    Http2Served served{co_await boost::asio::this_coro::executor, ok};
    co_await served.client->write_all(bytes);
    while (served.refusals.empty()) co_await yield_now();
    served.client->close();
    co_await served.close();
}

TEST(Http2Attack, BrokenFramesAndHeadsAreTold) {
    const std::string upper_case = std::string{"\x82\x87\x84\x00\x03X-A\x01y", 11};
    for (const std::string& bytes : {
             kGreeting + frame(1, 5, 2, "\x82\x87\x84"),  // an even stream
             kGreeting + frame(1, 5, 1, upper_case),
             std::string{"GET / HTTP/1.1\r\nHost: a\r\n\r\n"},
         }) {
        run(with_timeout(Millis{20'000}, "the refusal", refusals_are_told(bytes)));
    }
}

Task<> rapid_reset() {
    std::size_t running = 0;
    std::size_t most = 0;
    Gate open;
    Http2Served served{co_await boost::asio::this_coro::executor,
                       [&](Exchange& exchange) -> Task<> {
                           most = std::max(most, ++running);
                           co_await open.pass();
                           --running;
                           co_await exchange.respond(200, {}, "ok");
                       },
                       {.max_streams = 16}};
    Http2Client client{std::move(served.client)};
    for (int asked = 0; asked < 2000; ++asked) {
        const std::int32_t stream = client.ask("GET", "/");
        co_await client.flush();
        client.reset(stream);
        co_await client.flush();
    }
    co_await client.until([&] { return client.goaway; });
    EXPECT_TRUE(client.goaway);
    EXPECT_LE(most, 16u) << "streams that were reset go on working beyond the limit";
    open.open();
    client.stream().close();
    co_await served.ended();
}

TEST(Http2Attack, ResettingWhatOneAsksForEndsTheConnection) {
    run(rapid_reset());
}

// What a header bomb costs: each of its fields is one byte on the wire, and long here.
TEST(Http2Attack, ABombOfHeadersIs431OrTheEnd) {
    std::string block(
        "\x82\x87\x84\x41\x01"
        "a",
        6);
    // Puts "x: aaa..." (2000 bytes) into the table, and then refers to it.
    block.append(std::string("\x40\x01x\x7f\xd1\x0e", 6)).append(std::string(2000, 'a'));
    block.append(std::string(10'000, '\xbe'));
    const auto attack = [&]() -> Task<std::string> {
        Http2Served served{co_await boost::asio::this_coro::executor, ok};
        co_await served.client->write_all(kGreeting + frame(1, 5, 1, block));
        served.client->shutdown_write();
        std::string answer = co_await read_to_end(*served.client);
        co_await served.close();
        co_return answer;
    };
    const std::string answer = run(attack());
    EXPECT_EQ(answer.find("ok"), std::string::npos);
}

Task<> half_a_head(std::string bytes) {
    Http2Served served{co_await boost::asio::this_coro::executor, ok, {.head_timeout = Millis{50}}};
    co_await served.client->write_all(bytes);
    (void)co_await with_timeout(20s, "the end", read_to_end(*served.client));
    served.client->close();
    co_await served.ended();
}

TEST(Http2Attack, WhoSendsHalfAHeadAndWaitsIsCutOff) {
    run(half_a_head("PRI * HT"));
    run(half_a_head(kGreeting + frame(1, 0, 1, "\x82\x87\x84")));
}

Task<> idle() {
    Http2Served served{co_await boost::asio::this_coro::executor, ok, {.idle_timeout = Millis{50}}};
    co_await served.client->write_all(kGreeting);
    (void)co_await with_timeout(20s, "the end", read_to_end(*served.client));
    served.client->close();
    co_await served.ended();
}

TEST(Http2Attack, WhoAsksForNothingIsLetGo) {
    run(idle());
}

Task<std::string> speak_plainly(std::string bytes) {
    Server server{co_await boost::asio::this_coro::executor, ok};
    const std::uint16_t port = server.listen("127.0.0.1", 0);
    std::string answer = co_await exchange_raw(port, std::move(bytes));
    co_await server.close(1s);
    co_return answer;
}

// Without TLS nobody agreed on HTTP/2, and who looks at the bytes on the way would not see requests.
TEST(Http2Attack, WithoutTlsThereIsNone) {
    EXPECT_TRUE(run(speak_plainly(kGreeting)).starts_with("HTTP/1.1 400"));
    const std::string upgrade = run(speak_plainly(
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\n"
        "HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n"));
    EXPECT_TRUE(upgrade.starts_with("HTTP/1.1 200")) << upgrade;
}

}  // namespace
}  // namespace oyat::http
