#include "api/e2b/port_passage.hpp"

#include <algorithm>
#include <array>

#include "api/e2b/admission.hpp"
#include "api/e2b/sandbox_answer.hpp"
#include "http/proxy.hpp"
#include "io/timer.hpp"

namespace oyat::e2b {
namespace {

using SteadyClock = std::chrono::steady_clock;

// The proxy and the name server of the sandbox itself: they are not the sandbox's to offer.
constexpr std::array<std::uint16_t, 2> kReservedPorts{65501, 65502};

constexpr auto kRetryFor = std::chrono::milliseconds{1000};
constexpr auto kRetryEvery = std::chrono::milliseconds{50};

bool may_be_passed(std::uint16_t port) {
    return port != 0 && std::ranges::find(kReservedPorts, port) == kReservedPorts.end();
}

// An empty descriptor when nothing listens, all through the time of trying.
Task<Fd> dial(core::Sandbox& sandbox, std::uint16_t port) {
    const SteadyClock::time_point end = SteadyClock::now() + kRetryFor;
    while (true) {
        try {
            co_return co_await sandbox.dial(port);
        } catch (const Error& error) {
            if (error.code() != Errc::unavailable || error.fault() != Fault::command) throw;
            if (SteadyClock::now() >= end) co_return Fd{};
        }
        co_await sleep_for(kRetryEvery);
    }
}

// A key of this server that a client sends with every request has no business inside a sandbox.
bool holds_server_key(const auth::Keys& keys, std::string_view name, std::string_view value) {
    constexpr std::string_view kBearer = "Bearer ";
    if (http::equal_ignoring_case(name, "Authorization")) {
        if (!value.starts_with(kBearer)) return false;
        value.remove_prefix(kBearer.size());
    } else if (!http::equal_ignoring_case(name, "X-API-KEY")) {
        return false;
    }
    return keys.knows(value);
}

http::ProxyOptions options_for(const auth::Keys& keys, const http::RequestHead& head, std::string target) {
    http::ProxyOptions options;
    options.target = std::move(target);
    options.extra_fields = {{"X-Forwarded-For", head.peer},
                            {"X-Forwarded-Host", std::string{head.fields.get("Host")}},
                            {"X-Forwarded-Proto", head.tls ? "https" : "http"}};
    options.dropped_fields = {"E2b-Sandbox-Id", "E2b-Sandbox-Port", "Novita-Sandbox-Id",
                              "Novita-Sandbox-Port", "E2B-Traffic-Access-Token"};
    for (const auto& [name, value] : head.fields) {
        if (holds_server_key(keys, name, value)) options.dropped_fields.push_back(name);
    }
    return options;
}

Task<> pass(const auth::Keys& keys, http::Exchange& exchange, core::Sandbox& sandbox, ToPort to) {
    Fd upstream = co_await dial(sandbox, to.port);
    if (!upstream) {
        co_await answer_closed_port(exchange, to.sandbox, to.port);
        co_return;
    }
    std::unique_ptr<Stream> stream = make_stream(exchange.executor(), std::move(upstream));
    co_await http::proxy_exchange(exchange, std::move(stream),
                                  options_for(keys, exchange.request(), std::move(to.target)));
}

}  // namespace

Task<> pass_to_port(Services& services, http::Exchange& exchange, std::shared_ptr<core::Sandbox> sandbox,
                    ToPort to) {
    if (!may_be_passed(to.port)) {
        co_await answer_closed_port(exchange, to.sandbox, to.port);
        co_return;
    }
    const Waking waking = co_await wake(services, sandbox, holder_of(sandbox->record(), exchange.request()));
    if (waking.state == Wakefulness::gone) {
        co_await answer_no_sandbox(exchange, to.sandbox);
        co_return;
    }
    if (waking.state == Wakefulness::refused) {
        co_await answer_refused(exchange, to.sandbox, waking.status, waking.sentence);
        co_return;
    }
    bool gone = false;
    bool broken = false;
    const std::string id = to.sandbox;
    try {
        const std::size_t first = co_await race(pass(services.keys, exchange, *sandbox, std::move(to)),
                                                sandbox->until_not_running());
        gone = first == 1;
    } catch (const Error& error) {
        if (error.code() != Errc::unavailable) throw;
        gone = sandbox->record().state != core::SandboxState::running;
        broken = !gone;
    }
    if ((gone || broken) && exchange.started()) {
        exchange.abort();
    } else if (gone) {
        co_await answer_no_sandbox(exchange, id);
    } else if (broken) {
        co_await answer_refused(exchange, id, 502,
                                "The server on the port ended the connection without an answer");
    }
}

}  // namespace oyat::e2b
