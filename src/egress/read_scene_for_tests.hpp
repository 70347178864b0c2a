#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "egress/house_for_tests.hpp"
#include "egress/interception.hpp"
#include "http/loopback.hpp"
#include "http/server.hpp"

// For tests of connections that are read: a program, the reader, and a server out in the world, on real
// sockets.
namespace oyat::egress::testing {

inline policy::HostPattern pattern(std::string_view text) {
    return or_throw(policy::HostPattern::parse(text));
}

inline policy::Rule allow(std::string id, std::vector<std::string> methods, std::vector<std::string> paths) {
    policy::Rule rule{.id = std::move(id), .action = policy::Action::allow, .methods = std::move(methods)};
    for (const std::string& path : paths) rule.paths.push_back(or_throw(policy::PathPattern::parse(path)));
    return rule;
}

inline core::PolicyPtr only(std::vector<policy::Rule> rules) {
    auto document = std::make_shared<policy::Document>();
    document->rules = std::move(rules);
    auto policy = std::make_shared<policy::Policy>();
    policy->layers.push_back({policy::Layer::tenant, std::move(document)});
    return policy;
}

struct ReadScene {
    explicit ReadScene(Executor loop) : executor{std::move(loop)} {}

    // The server that all connections reach. Unless a test says otherwise it answers "PATH of HOST".
    void serve() { port = world.listen("127.0.0.1", 0); }

    Task<> answer(http::Exchange& exchange) {
        const http::RequestHead& head = exchange.request();
        seen.push_back(head.method + " " + head.target + " " + std::string{head.fields.get("Host")});
        if (handler) co_return co_await handler(exchange);
        std::string body = co_await exchange.read_whole_body(1 << 20);
        co_await exchange.respond(200, {},
                                  head.path + " of " + head.host + (body.empty() ? "" : ": " + body));
    }

    // What reads a program's connection to `name`.
    std::unique_ptr<Interception> reader_of(Fd inside, std::string name) {
        policy::Attempt attempt{.address = or_throw(IpAddress::parse("127.0.0.1")),
                                .port = port,
                                .name = std::move(name),
                                .strength = policy::Strength::pin,
                                .protocol = tls ? policy::Protocol::tls : policy::Protocol::http};
        return std::make_unique<Interception>(
            executor, std::move(inside), std::exchange(first_bytes, {}), std::move(attempt),
            Interception::Surroundings{
                .clock = clock,
                .report = report,
                .pace = pace,
                .judge =
                    [this](const policy::Attempt& attempt) {
                        return Interception::Verdict{policy, policy::decide(*policy, attempt, clock.wall())};
                    },
                .stands_for = [this](std::string asked) { return stands_for(std::move(asked)); },
                .connect = [this] { return connect_out(); },
                .transform = transform,
                .tls = tls},
            limits);
    }
    Task<> run_reader(Interception& reading) {
        try {
            co_await reading.run();
            ended = "closed";
        } catch (const Error& error) {
            ended = error.message();
        }
    }

    // A program's connection to the server, by way of the reader.
    std::unique_ptr<Stream> program(std::string name = "a.test") {
        std::array<int, 2> ends{};
        sys(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), "socketpair");
        reader = reader_of(Fd{ends[1]}, std::move(name));
        tasks.spawn(run_reader(*reader));
        return make_stream(executor, Fd{ends[0]});
    }

    // Sends the bytes, and returns all that comes back until the connection ends.
    Task<std::string> ask(std::string bytes, std::string name = "a.test") {
        std::unique_ptr<Stream> stream = program(std::move(name));
        // What is no request ends the connection, after the answers to those before it.
        co_await stream->write_all(bytes + "END\r\n\r\n");
        std::string all = co_await with_timeout(kSoon, "answer", http::testing::read_to_end(*stream));
        stream.reset();
        co_await tasks.wait_idle();
        co_return all;
    }

    Executor executor;
    SystemClock clock;
    NoLog log;
    core::EventBus bus{clock, log};
    Report report{executor, bus, kBox, "acme"};
    Pace pace{0};
    core::PolicyPtr policy = policy::Policy::open();
    std::vector<std::string> other_names;  // that were resolved to the server's address, too
    std::vector<std::string> seen;         // what reached the server
    std::size_t connects = 0;
    std::string first_bytes;
    std::function<Task<>(http::Exchange&)> handler;
    std::function<Task<Fd>()> connecting;
    http::RequestTransform* transform = nullptr;
    std::optional<TlsReading> tls;
    Interception::Limits limits{
        .idle = Millis{20'000}, .answer = Millis{5'000}, .handshake = Millis{5'000}, .requests = 8};
    std::string ended;  // why the last reader's connection did
    http::Server world{executor, [this](http::Exchange& exchange) { return answer(exchange); }};
    std::uint16_t port = 0;
    std::unique_ptr<Interception> reader;
    TaskGroup tasks{executor};

private:
    Task<bool> stands_for(std::string name) {
        co_return std::ranges::find(other_names, name) != other_names.end();
    }
    Task<Fd> connect_out() {
        ++connects;
        if (connecting) co_return co_await connecting();
        co_return co_await connect(loopback(port), kSoon);
    }
};

using ReadBody = Task<> (*)(ReadScene&);

inline void in_scene(ReadBody body) {
    Loop loop;
    ReadScene scene{loop.executor()};
    loop.run([](ReadScene& s, ReadBody b) -> Task<> {
        s.serve();
        std::exception_ptr failure;
        try {
            co_await with_timeout(Millis{20'000}, "the test", b(s));
        } catch (...) {
            failure = std::current_exception();
        }
        if (s.reader) s.reader->cut();
        co_await s.tasks.close();
        co_await s.world.close(Millis{0});
        if (failure) std::rethrow_exception(failure);
    }(scene, body));
}

}  // namespace oyat::egress::testing
