#include "egress/interception.hpp"

#include <algorithm>
#include <utility>

#include "base/defer.hpp"
#include "egress/push_reader.hpp"
#include "egress/read_request.hpp"
#include "egress/request_facts.hpp"
#include "http/prefixed_stream.hpp"

namespace oyat::egress {
namespace {

using http::Exchange;
using http::RequestHead;

constexpr std::size_t kPushPiece = 16 * 1024;

std::unique_ptr<Stream> with_bytes(std::string_view bytes, std::unique_ptr<Stream> stream) {
    http::ByteBuffer prefix;
    std::ranges::copy(bytes, prefix.room(bytes.size()).begin());
    prefix.commit(bytes.size());
    return http::with_prefix(std::move(prefix), std::move(stream));
}

}  // namespace

Interception::Interception(Executor executor, Fd inside, std::string bytes, policy::Attempt attempt,
                           Surroundings surroundings, Limits limits)
    : executor_{std::move(executor)},
      attempt_{std::move(attempt)},
      around_{std::move(surroundings)},
      limits_{limits},
      meter_{executor_, around_.pace, around_.clock, limits.idle},
      inside_{with_bytes(bytes, meter_.inside(std::move(inside)))},
      upstreams_{[this](http::TlsProtocols offered) { return connect(offered); }, limits.requests},
      service_{.handler = [this](Exchange& exchange) { return answer(exchange); },
               .options = {},
               .on_refused = [this](std::string_view why) { report_malformed(why); }} {
    attempt_.strength = policy::Strength::authority;
    attempt_.final = true;
    service_.options.idle_timeout = limits.idle;
}

Interception::~Interception() = default;

std::string Interception::identity() const {
    const bool named = attempt_.name && !attempt_.name->empty();
    return named ? *attempt_.name : attempt_.address.to_string();
}

Task<> Interception::run() {
    const Defer leave{[this] { upstreams_.close(); }};
    http::Accepted accepted{.stream = std::move(inside_), .tls = around_.tls.has_value()};
    if (around_.tls.has_value()) {
        http::TlsSession session = co_await end_tls(std::move(accepted.stream));
        accepted.stream = std::move(session.stream);
        accepted.http2 = session.http2;
    }
    const auto connection = http::make_connection(executor_, std::move(accepted), service_);
    co_await connection->serve();
}

Task<http::TlsSession> Interception::end_tls(std::unique_ptr<Stream> stream) {
    const std::shared_ptr<http::TlsContext> context = around_.tls->identity(identity());
    try {
        co_return co_await with_timeout(limits_.handshake, "TLS handshake",
                                        http::tls_accept(*context, std::move(stream)));
    } catch (const Error& error) {
        if (error.code() == Errc::denied) {
            // It pins certificates, or has not taken up the sandbox's authorities.
            around_.report.repeated(
                "tls.client_rejected_ca",
                {{"addr", attempt_.address.to_string()}, {"port", attempt_.port}, {"host", identity()}},
                Fault::client);
        }
        throw;
    }
}

Task<OwnUpstreams::Connected> Interception::connect(http::TlsProtocols offered) {
    std::unique_ptr<Stream> socket = meter_.outside(make_stream(executor_, co_await around_.connect()));
    OwnUpstreams::Connected connected{.stream = nullptr, .socket = socket->native_fd()};
    if (!around_.tls) {
        connected.stream = std::move(socket);
        co_return connected;
    }
    http::TlsSession session =
        co_await with_timeout(limits_.handshake, "TLS handshake",
                              http::tls_connect(*around_.tls->trust, std::move(socket), identity(), offered));
    connected.stream = std::move(session.stream);
    connected.http2 = session.http2;
    co_return connected;
}

bool Interception::still_passes() const {
    return std::ranges::all_of(under_way_,
                               [this](const UnderWay* request) { return judge(*request).decision.allows(); });
}

Interception::Verdict Interception::judge(const UnderWay& request) const {
    policy::Attempt attempt = attempt_;
    attempt.name = request.host;
    Verdict verdict;
    for (const std::string& method : request.methods) {
        const policy::Request asked{
            .method = method, .target = request.target, .push = request.push ? &*request.push : nullptr};
        attempt.request = &asked;
        verdict = around_.judge(attempt);
        if (!verdict.decision.allows()) break;
    }
    return verdict;
}

Task<> Interception::answer(Exchange& exchange) {
    const RequestHead& head = exchange.request();
    if (head.fields.has_token("Upgrade", "h2c")) {
        // Behind it nobody would judge requests any more (threats E-11). Ignoring it is allowed, too; but who
        // asks for it should know why it gets HTTP/1.1 and nothing else.
        boost::json::object denied = fields(head, head.host);
        denied["rule"] = "h2c";
        around_.report.repeated("connect.denied", std::move(denied), Fault::policy);
        co_return co_await refuse(exchange, 403, "refused: HTTP/2 without TLS (h2c); ask by HTTP/1.1");
    }
    Result<std::string> host = co_await host_of(head);
    if (!host) {
        boost::json::object denied = fields(head, head.host);
        denied["rule"] = "host-mismatch";
        around_.report.repeated("connect.denied", std::move(denied), Fault::policy);
        co_return co_await refuse(exchange, 421, "refused: " + host.error().message());
    }
    UnderWay request{*this, *std::move(host), head};
    Verdict verdict = judge(request);
    if (verdict.decision.need == policy::Need::push) {
        co_await look_at_push(exchange, request);
        verdict = judge(request);
    }
    if (!verdict.decision.allows()) co_return co_await deny(exchange, request, verdict);
    if (around_.admit && !around_.admit(verdict)) {
        const std::string rule{verdict.decision.rule};
        boost::json::object denied = fields(head, request.host);
        denied["rule"] = "budget";
        denied["budget_of"] = rule;
        around_.report.repeated("connect.denied", std::move(denied), Fault::limit);
        co_return co_await refuse(exchange, 429, "the budget of rule " + rule + " is used up");
    }

    boost::json::object passed = fields(head, request.host);
    passed["rule"] = verdict.decision.rule;
    passed["layer"] = policy::to_string(verdict.decision.layer);
    passed["strength"] = policy::to_string(policy::Strength::authority);
    if (verdict.decision.action == policy::Action::observe) passed["observe"] = true;
    if (request.push && request.push->refs)
        passed["refs"] = refs_for_record(*request.push->refs, around_.transform);
    around_.report.repeated("http.request", std::move(passed));
    if (head.method == "GET") report_artefact(head, request.host);
    co_await pass(exchange, request);
}

Task<> Interception::look_at_push(Exchange& exchange, UnderWay& request) {
    request.push.emplace();
    Result<PushReader> reader = PushReader::of(exchange.request().fields);
    std::vector<char> piece(kPushPiece);
    while (reader) {
        const std::size_t got = co_await exchange.read_body(piece);
        request.began.append(piece.data(), got);
        Result<bool> complete = got > 0 ? reader->take({piece.data(), got})
                                        : oyat::refuse(Errc::invalid_argument, "its list of refs has no end");
        if (!complete) {
            reader = std::unexpected{std::move(complete).error()};
        } else if (*complete) {
            request.push->refs = reader->refs();
            co_return;
        }
    }
    request.push_problem = reader.error().message();
}

// In TLS the server name, the certificate and Host are one. In clear several names may share the address.
Task<Result<std::string>> Interception::host_of(const RequestHead& head) {
    Result<std::string> host = named_host(head, attempt_.address, attempt_.port);
    if (!host || host->empty()) {
        const bool tls_of_a_name = around_.tls.has_value() && attempt_.name && !attempt_.name->empty();
        if (host && tls_of_a_name) {
            co_return oyat::refuse(Errc::denied, "its Host is not the name that the connection was made for");
        }
        co_return host;
    }
    if (attempt_.name == *host) co_return host;
    if (around_.tls.has_value()) {
        co_return oyat::refuse(Errc::denied, "its Host is not the name that the connection was made for");
    }
    if (!co_await around_.stands_for(*host)) {
        co_return oyat::refuse(Errc::denied, "its Host has another address than the connection's");
    }
    co_return host;
}

}  // namespace oyat::egress
