#include "api/e2b/port_passage.hpp"

#include <algorithm>
#include <array>

#include "api/e2b/admission.hpp"
#include "api/e2b/sandbox_answer.hpp"
#include "api/e2b/visitor.hpp"
#include "http/proxy.hpp"
#include "http/tls.hpp"
#include "io/timer.hpp"

namespace oyat::e2b {
namespace {

using SteadyClock = std::chrono::steady_clock;

// The proxy and the name server of the sandbox itself: they are not the sandbox's to offer.
constexpr std::array<std::uint16_t, 2> kReservedPorts{65501, 65502};

constexpr auto kRetryFor = std::chrono::milliseconds{1000};
constexpr auto kRetryEvery = std::chrono::milliseconds{50};
constexpr auto kHandshakeLimit = std::chrono::seconds{10};

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

// Nobody but the sandbox can be at the other end, so its certificate says nothing that matters.
Task<std::unique_ptr<Stream>> speak_tls(std::unique_ptr<Stream> stream) {
    static http::TlsContext context = http::TlsContext::client_trusting_anybody();
    return http::tls_connect(context, std::move(stream), "localhost");
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

http::ProxyOptions options_for(const auth::Keys& keys, const http::RequestHead& head, const ToPort& to,
                               Visitor visitor, const core::Exposure& exposure) {
    http::ProxyOptions options;
    options.host = exposure.masked_host(to.port);
    if (visitor.target != head.target) options.target = std::move(visitor.target);
    options.extra_fields = {{"X-Forwarded-For", head.peer},
                            {"X-Forwarded-Host", std::string{head.fields.get("Host")}},
                            {"X-Forwarded-Proto", head.tls ? "https" : "http"}};
    options.dropped_fields = {"E2b-Sandbox-Id", "E2b-Sandbox-Port", "Novita-Sandbox-Id",
                              "Novita-Sandbox-Port", "E2B-Traffic-Access-Token"};
    for (const auto& [name, value] : head.fields) {
        if (holds_server_key(keys, name, value)) options.dropped_fields.push_back(name);
    }
    if (visitor.cookies) {
        options.dropped_fields.emplace_back("Cookie");
        if (!visitor.cookies->empty()) options.extra_fields.add("Cookie", *std::move(visitor.cookies));
    }
    return options;
}

Task<> pass(const auth::Keys& keys, http::Exchange& exchange, core::Sandbox& sandbox, ToPort to,
            Visitor visitor) {
    Fd upstream = co_await dial(sandbox, to.port);
    if (!upstream) {
        co_await answer_closed_port(exchange, to.sandbox, to.port);
        co_return;
    }
    std::unique_ptr<Stream> stream = make_stream(exchange.executor(), std::move(upstream));
    if (sandbox.record().exposure.tls_ports.contains(to.port)) {
        stream =
            co_await with_timeout(kHandshakeLimit, "speak TLS to the port", speak_tls(std::move(stream)));
    }
    co_await http::proxy_exchange(
        exchange, std::move(stream),
        options_for(keys, exchange.request(), to, std::move(visitor), sandbox.record().exposure));
}

core::Admittance admit_visitor(const core::SandboxRecord& record, const http::RequestHead& head,
                               const ToPort& to, const Visitor& visitor, WallTime now) {
    const core::Admittance admittance =
        core::admit(record.exposure, record.id, to.port, visitor.credentials, now);
    if (admittance.by == "link" && visitor.link_from == Visitor::LinkFrom::cookie &&
        !is_from_own_page(head)) {
        return {.reason = "A page of another site asks in your name"};
    }
    return admittance;
}

// The link moves from the address, which pages pass on and people copy, into a cookie of this host.
Task<> keep_link(Services& services, http::Exchange& exchange, Visitor visitor) {
    const WallTime now = services.clock.wall();
    const std::string& link = *visitor.credentials.link;
    const WallTime end = core::end_of_link(link).value_or(now);
    co_await exchange.respond(303,
                              {{"Location", location_here(visitor.target)},
                               {"Set-Cookie", link_cookie(exchange.request(), link, end, now)},
                               {"Referrer-Policy", "no-referrer"},
                               {"Cache-Control", "no-store"}},
                              "");
}

bool should_keep_link(const http::RequestHead& head, const ToPort& to, const Visitor& visitor) {
    return to.by_host && visitor.link_from == Visitor::LinkFrom::query && head.method == "GET" &&
           !head.wants_upgrade && is_browser(head);
}

constexpr std::size_t kMaxClient = 128;

}  // namespace

Task<> pass_to_port(Services& services, core::VisitBook& visits, http::Exchange& exchange,
                    std::shared_ptr<core::Sandbox> sandbox, ToPort to) {
    if (!may_be_passed(to.port)) {
        co_await answer_closed_port(exchange, to.sandbox, to.port);
        co_return;
    }
    const http::RequestHead& head = exchange.request();
    Visitor visitor = visitor_of(head, to);
    // Before the sandbox is woken: a stranger must not be able to keep it awake.
    const core::Admittance admittance =
        admit_visitor(sandbox->record(), head, to, visitor, services.clock.wall());
    visits.note(sandbox->record(),
                {.port = to.port,
                 .peer = head.peer,
                 .client = std::string{head.fields.get("User-Agent").substr(0, kMaxClient)},
                 .by = std::string{admittance.by},
                 .reason = std::string{admittance.reason}});
    if (!admittance.granted) {
        co_await answer_not_admitted(exchange, to.sandbox, admittance.reason);
        co_return;
    }
    if (should_keep_link(head, to, visitor)) {
        co_await keep_link(services, exchange, std::move(visitor));
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
        const std::size_t first =
            co_await race(pass(services.keys, exchange, *sandbox, std::move(to), std::move(visitor)),
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
