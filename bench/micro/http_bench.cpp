// What the HTTP server costs by itself: a trivial request on a kept-alive connection, the same through the
// proxy, and 1 GiB each way. Server and client are two threads on loopback; the client is plain blocking
// system calls. Prints one JSON line a figure.

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/throwing.hpp"
#include "http/proxy.hpp"
#include "http/server.hpp"
#include "io/connect.hpp"
#include "io/gate.hpp"
#include "io/loop.hpp"
#include "io/post.hpp"
#include "io/race.hpp"
#include "io/stream.hpp"

namespace {

using namespace oyat;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kBlock = 256 * 1024;
constexpr std::uint64_t kBig = 1ull << 30;
constexpr int kRequests = 20'000;

SocketAddress loopback(std::uint16_t port) {
    return or_throw(SocketAddress::ip("127.0.0.1", port));
}

// What the answer to "run this command" looks like from here: three frames, watched for a client that leaves.
Task<> send_frames(http::Exchange& exchange) {
    co_await exchange.start(200, {{"Content-Type", "application/connect+json"}}, std::nullopt);
    for (const char* frame : {"started", "output", "exited"}) co_await exchange.write(frame);
    co_await exchange.finish();
}

Task<> answer_watched(http::Exchange& exchange) {
    (void)co_await exchange.read_whole_body(1024);
    (void)co_await race(send_frames(exchange), exchange.client_gone());
}

Task<> answer(http::Exchange& exchange) {
    const std::string& path = exchange.request().path;
    if (path == "/frames") {
        co_await answer_watched(exchange);
    } else if (path == "/up") {
        std::vector<char> buffer(kBlock);
        while (co_await exchange.read_body(buffer) > 0) {
        }
        co_await exchange.respond(200, {}, "");
    } else if (path == "/down" || path == "/down-chunked") {
        co_await exchange.start(200, {}, path == "/down" ? std::optional{kBig} : std::nullopt);
        const std::string block(kBlock, 'x');
        for (std::uint64_t sent = 0; sent < kBig; sent += kBlock) co_await exchange.write(block);
        co_await exchange.finish();
    } else {
        co_await exchange.respond(200, {{"Content-Type", "application/json"}}, "{\"ok\":true}");
    }
}

Task<> pass_on(http::Exchange& exchange, std::uint16_t port) {
    auto upstream = make_stream(exchange.executor(), co_await connect(loopback(port), Millis{1000}));
    co_await http::proxy_exchange(exchange, std::move(upstream), {});
}

class BlockingClient {
public:
    explicit BlockingClient(std::uint16_t port)
        : socket_{sys(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "make a socket")} {
        const SocketAddress address = loopback(port);
        sys(::connect(socket_.get(), address.data(), address.size()), "connect");
    }

    void send(std::string_view bytes) {
        while (!bytes.empty())
            bytes.remove_prefix(sys(::send(socket_.get(), bytes.data(), bytes.size(), 0), "send"));
    }
    std::size_t receive() { return sys(::recv(socket_.get(), buffer_.data(), buffer_.size(), 0), "receive"); }
    // A short answer that ends in `end`.
    void ask(const std::string& path, std::string_view end) {
        send("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n");
        std::string got;
        while (!got.ends_with(end)) {
            const std::size_t more = receive();
            if (more == 0) throw Error{Errc::unavailable, "no answer"};
            got.append(buffer_.data(), more);
        }
    }

private:
    Fd socket_;
    std::vector<char> buffer_ = std::vector<char>(kBlock);
};

void report(const char* name, double value, const char* unit) {
    std::printf("{\"name\":\"%s\",\"value\":%.3f,\"unit\":\"%s\"}\n", name, value, unit);
}

std::size_t resident_kib() {
    std::ifstream statm{"/proc/self/statm"};
    std::size_t total = 0;
    std::size_t resident = 0;
    statm >> total >> resident;
    return resident * 4;
}

void measure_latency(const std::string& name, std::uint16_t port, const std::string& path,
                     std::string_view end) {
    BlockingClient client{port};
    std::vector<double> micros;
    for (int i = 0; i < kRequests; ++i) {
        const auto before = Clock::now();
        client.ask(path, end);
        micros.push_back(std::chrono::duration<double, std::micro>(Clock::now() - before).count());
    }
    std::ranges::sort(micros);
    report((name + "_p50").c_str(), micros[micros.size() / 2], "us");
    report((name + "_p99").c_str(), micros[micros.size() * 99 / 100], "us");
}

// What a proxied request can't avoid: a connection of its own.
void measure_new_connections(std::uint16_t port) {
    std::vector<double> micros;
    for (int i = 0; i < kRequests / 4; ++i) {
        const auto before = Clock::now();
        BlockingClient client{port};
        client.ask("/", "}");
        micros.push_back(std::chrono::duration<double, std::micro>(Clock::now() - before).count());
    }
    std::ranges::sort(micros);
    report("request_new_connection_p50", micros[micros.size() / 2], "us");
}

void measure_upload(std::uint16_t port) {
    BlockingClient client{port};
    const std::string block(kBlock, 'x');
    const auto before = Clock::now();
    client.send("POST /up HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(kBig) + "\r\n\r\n");
    for (std::uint64_t sent = 0; sent < kBig; sent += kBlock) client.send(block);
    (void)client.receive();
    report("upload", kBig / 1e6 / std::chrono::duration<double>(Clock::now() - before).count(), "MB/s");
}

void measure_download(const std::string& name, std::uint16_t port, const std::string& path) {
    BlockingClient client{port};
    const auto before = Clock::now();
    client.send("GET " + path + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    std::uint64_t got = 0;
    while (const std::size_t more = client.receive()) got += more;
    if (got < kBig) throw Error{Errc::internal, "the download was cut"};
    report(name.c_str(), kBig / 1e6 / std::chrono::duration<double>(Clock::now() - before).count(), "MB/s");
}

struct Servers {
    std::uint16_t direct = 0;
    std::uint16_t proxied = 0;
};

// Serves until the gate opens; `ready` is called on the loop once both listen.
Task<> serve(Gate& stop, std::function<void(Servers)> ready) {
    const Executor executor = co_await boost::asio::this_coro::executor;
    http::Server server{executor, answer};
    Servers ports{.direct = server.listen("127.0.0.1", 0)};
    // On the same loop: what the two cost adds up.
    http::Server proxy{executor,
                       [port = ports.direct](http::Exchange& exchange) { return pass_on(exchange, port); }};
    ports.proxied = proxy.listen("127.0.0.1", 0);
    ready(ports);
    co_await stop.pass();
    co_await proxy.close(Millis{100});
    co_await server.close(Millis{100});
}

}  // namespace

int main() {
    Loop loop;
    Gate stop;
    std::jthread client;
    loop.run(serve(stop, [&](Servers ports) {
        client = std::jthread{[&loop, &stop, ports] {
            const std::size_t before = resident_kib();
            measure_latency("request", ports.direct, "/", "}");
            measure_latency("frames", ports.direct, "/frames", "0\r\n\r\n");
            measure_new_connections(ports.direct);
            measure_latency("request_proxied", ports.proxied, "/", "}");
            measure_upload(ports.direct);
            measure_download("download", ports.direct, "/down");
            measure_download("download_chunked", ports.direct, "/down-chunked");
            measure_download("download_proxied", ports.proxied, "/down");
            report("memory_growth", static_cast<double>(resident_kib()) - static_cast<double>(before), "KiB");
            post(loop.executor(), [&stop] { stop.open(); });
        }};
    }));
}
