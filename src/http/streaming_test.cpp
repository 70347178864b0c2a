#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/defer.hpp"
#include "http/client.hpp"
#include "http/loopback.hpp"
#include "http/proxy.hpp"
#include "io/gate.hpp"
#include "io/run.hpp"
#include "io/task_group.hpp"

// Big bodies, slow readers: what must not be held in memory.
namespace oyat::http {
namespace {

using namespace std::chrono_literals;
using namespace testing;

constexpr std::uint64_t kBig = 96ull << 20;

std::size_t resident_bytes() {
    std::ifstream statm{"/proc/self/statm"};
    std::size_t total = 0;
    std::size_t resident = 0;
    statm >> total >> resident;
    return resident * 4096;
}

// A body that tells its place: byte n is n / 65536.
void fill(std::string& block, std::uint64_t number) {
    block.assign(65536, static_cast<char>(number));
}

Task<> send_big(Exchange& exchange, bool sized) {
    co_await exchange.start(200, {}, sized ? std::optional{kBig} : std::nullopt);
    std::string block;
    for (std::uint64_t i = 0; i < kBig / 65536; ++i) {
        fill(block, i);
        co_await exchange.write(block);
    }
    co_await exchange.finish();
}

Task<> take_big(Exchange& exchange) {
    std::string buffer(65536, '\0');
    std::uint64_t at = 0;
    while (const std::size_t got = co_await exchange.read_body(buffer)) {
        // The first and the last byte of what came tell whether it is the right piece.
        EXPECT_EQ(buffer[0], static_cast<char>(at / 65536));
        EXPECT_EQ(buffer[got - 1], static_cast<char>((at + got - 1) / 65536));
        at += got;
    }
    co_await exchange.respond(200, {}, std::to_string(at));
}

Task<> answer(Exchange& exchange) {
    const std::string& path = exchange.request().path;
    if (path == "/up") co_return co_await take_big(exchange);
    co_await send_big(exchange, path == "/sized");
}

Task<> upload(ClientConnection& client, std::optional<std::uint64_t> length) {
    co_await client.begin({.method = "POST", .target = "/up", .fields = {{"Host", "a"}}, .body = {}}, length);
    std::string block;
    for (std::uint64_t i = 0; i < kBig / 65536; ++i) {
        fill(block, i);
        co_await client.write_body(block);
    }
    EXPECT_EQ((co_await client.end()).status, 200);
    EXPECT_EQ(co_await client.read_whole_body(100), std::to_string(kBig));
}

Task<> download(ClientConnection& client, std::string target) {
    EXPECT_EQ((co_await client.send({.target = target, .fields = {{"Host", "a"}}, .body = {}})).status, 200);
    std::string buffer(65536, '\0');
    std::uint64_t total = 0;
    while (const std::size_t got = co_await client.read_body(buffer)) {
        EXPECT_EQ(buffer[0], static_cast<char>(total / 65536));
        total += got;
    }
    EXPECT_EQ(total, kBig);
}

Task<> move_all(std::uint16_t port) {
    ClientConnection client{co_await connect_loopback(port)};
    const std::size_t before = resident_bytes();
    co_await upload(client, kBig);
    co_await upload(client, std::nullopt);
    co_await download(client, "/sized");
    co_await download(client, "/chunked");
    // Both ends live in this process, so this holds for the two of them.
    EXPECT_LT(resident_bytes(), before + (24u << 20));
}

Task<> move_directly() {
    Server server{co_await boost::asio::this_coro::executor, answer};
    co_await move_all(server.listen("127.0.0.1", 0));
    co_await server.close(1s);
}

TEST(Streaming, BigBodiesPassInFlatMemory) {
    run(move_directly());
}

Task<> move_by_proxy() {
    const Executor executor = co_await boost::asio::this_coro::executor;
    Server back{executor, answer};
    Server front{executor, [port = back.listen("127.0.0.1", 0)](Exchange& exchange) -> Task<> {
                     co_await proxy_exchange(exchange, co_await connect_loopback(port), {});
                 }};
    co_await move_all(front.listen("127.0.0.1", 0));
    co_await front.close(1s);
    co_await back.close(1s);
}

TEST(Streaming, AlsoThroughTheProxy) {
    run(move_by_proxy());
}

// Without a reader the writer stops after what the kernel's buffers take.
Task<> do_not_read() {
    std::uint64_t written = 0;
    Gate over;
    Server server{co_await boost::asio::this_coro::executor, [&](Exchange& exchange) -> Task<> {
                      const Defer leaving{[&over] { over.open(); }};
                      co_await exchange.start(200, {}, std::nullopt);
                      const std::string block(65536, 'x');
                      for (;; written += block.size()) co_await exchange.write(block);
                  }};
    auto stream = co_await connect_loopback(server.listen("127.0.0.1", 0));
    const std::size_t before = resident_bytes();
    co_await stream->write_all("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    std::uint64_t last = 1;
    while (written != last) {
        last = written;
        co_await sleep_for(50ms);
    }
    EXPECT_GT(written, 0u);
    EXPECT_LT(written, 64u << 20);
    EXPECT_LT(resident_bytes(), before + (4u << 20));
    stream->close();
    co_await over.pass();
    co_await server.close(1s);
}

TEST(Streaming, ASlowReaderStopsTheWriter) {
    run(do_not_read());
}

// Threats X-12: what a connection costs that says nothing.
Task<> keep_idle() {
    constexpr std::size_t kConnections = 400;
    Server server{co_await boost::asio::this_coro::executor,
                  [](Exchange& exchange) -> Task<> { co_await exchange.respond(200, {}, "ok"); }};
    const std::uint16_t port = server.listen("127.0.0.1", 0);
    std::vector<std::unique_ptr<Stream>> clients;
    const auto connect_more = [&]() -> Task<> {
        for (std::size_t i = 0; i < kConnections; ++i) {
            clients.push_back(co_await connect_loopback(port));
            co_await clients.back()->write_all("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
            co_await read_until(*clients.back(), "ok");
        }
    };
    const std::size_t before = resident_bytes();
    co_await connect_more();
    EXPECT_EQ(server.connections(), kConnections);
    EXPECT_LT((resident_bytes() - before) / kConnections, 64u << 10) << "with the client's side";
    clients.clear();
    co_await server.close(1s);
}

TEST(Streaming, IdleConnectionsAreCheap) {
    run(keep_idle());
}

}  // namespace
}  // namespace oyat::http
