#include "egress/interception.hpp"

#include <algorithm>
#include <utility>

#include "base/defer.hpp"
#include "core/json_text.hpp"
#include "egress/push_reader.hpp"
#include "egress/request_facts.hpp"
#include "http/http2_upstream.hpp"
#include "http/prefixed_stream.hpp"
#include "http/trailers.hpp"
#include "packages/file_names.hpp"

namespace oyat::egress {
namespace {

using http::Exchange;
using http::OutgoingRequest;
using http::RequestHead;

constexpr std::size_t kPushPiece = 16 * 1024;
constexpr std::size_t kRecordedRefs = 8, kShownRefs = 200;

// Sending it twice does what sending it once does (RFC 9110, 9.2.2), and there is nothing to send again.
bool may_repeat(const RequestHead& head) {
    return !head.has_body && (head.method == "GET" || head.method == "HEAD" || head.method == "OPTIONS" ||
                              head.method == "PUT" || head.method == "DELETE");
}

bool is_upstream_failure(const Error& error) {
    return (error.code() == Errc::unavailable || error.code() == Errc::deadline) &&
           error.fault() != Fault::client;
}

// At most a few, each of bounded length.
boost::json::array refs_for_record(const std::vector<std::string>& refs,
                                   const http::RequestTransform* transform) {
    boost::json::array shown;
    for (const std::string& ref : refs) {
        if (shown.size() == kRecordedRefs) break;
        const bool may = transform == nullptr || transform->may_record(ref);
        shown.emplace_back(may ? core::json_text(std::string_view{ref}.substr(0, kShownRefs)) : "(withheld)");
    }
    return shown;
}

http::Fields filtered(const http::Fields& fields, http::AnswerFilter& filter) {
    http::Fields made;
    for (const auto& [name, value] : fields) made.add(name, filter.field(value));
    return made;
}

// A program that speaks HTTP/2 and asks for trailers, as gRPC does, may need what HTTP/1.1 has not.
http::TlsProtocols offer_for(const Exchange& exchange) {
    const bool needs = dynamic_cast<const http::TakesTrailers*>(&exchange) != nullptr &&
                       exchange.request().fields.has_token("TE", "trailers");
    return needs ? http::TlsProtocols::http1_and_http2 : http::TlsProtocols::http1;
}

std::unique_ptr<Stream> with_bytes(std::string_view bytes, std::unique_ptr<Stream> stream) {
    http::ByteBuffer prefix;
    std::ranges::copy(bytes, prefix.room(bytes.size()).begin());
    prefix.commit(bytes.size());
    return http::with_prefix(std::move(prefix), std::move(stream));
}

}  // namespace

// A request from its judgement to the end of its answer.
struct Interception::UnderWay {
    UnderWay(Interception& owner, std::string name, const RequestHead& head)
        : interception{owner},
          host{std::move(name)},
          methods{possible_methods(head)},
          target{policy::CanonicalTarget::of(head.target)} {
        interception.under_way_.insert(this);
    }
    ~UnderWay() { interception.under_way_.erase(this); }
    UnderWay(const UnderWay&) = delete;
    UnderWay& operator=(const UnderWay&) = delete;

    Interception& interception;
    std::string host;  // "" when the request names the address
    std::vector<std::string> methods;
    std::optional<policy::CanonicalTarget> target;
    std::optional<policy::Push> push;  // when a rule asks for it
    std::string push_problem;          // why that could not be read
    std::string began;                 // of the body: what was read for it
};

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

void Interception::report_artefact(const RequestHead& head, std::string_view host) noexcept {
    const std::optional<packages::Package> package = packages::requested_artefact(head.path);
    if (!package) return;
    around_.report.repeated("package.fetched", {{"ecosystem", to_string(package->ecosystem)},
                                                {"name", package->name},
                                                {"version", package->version},
                                                {"host", host},
                                                {"addr", attempt_.address.to_string()},
                                                {"port", attempt_.port}});
}

void Interception::report_malformed(std::string_view why) noexcept {
    around_.report.repeated("connect.denied",
                            {{"addr", attempt_.address.to_string()},
                             {"port", attempt_.port},
                             {"host", identity()},
                             {"rule", "malformed-request"},
                             {"why", why}},
                            Fault::policy);
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

Task<> Interception::deny(Exchange& exchange, const UnderWay& request, const Verdict& verdict) {
    const RequestHead& head = exchange.request();
    const std::string layer{policy::to_string(verdict.decision.layer)};
    const std::string rule{verdict.decision.rule};
    boost::json::object denied = fields(head, request.host);
    denied["rule"] = rule;
    denied["layer"] = layer;
    denied["strength"] = policy::to_string(policy::Strength::authority);
    std::string refs;
    if (request.push && request.push->refs) {
        denied["refs"] = refs_for_record(*request.push->refs, around_.transform);
        for (const std::string& ref : *request.push->refs) {
            if (refs.size() < kShownRefs) refs.append(" ").append(ref);
        }
        refs = "push to" + refs + " ";
    } else if (!request.push_problem.empty()) {
        denied["why"] = request.push_problem;
        refs = request.push_problem + "; ";
    }
    around_.report.repeated("connect.denied", std::move(denied), Fault::policy);
    co_await refuse(exchange, 403, refs + "denied by rule " + rule + " (" + layer + "), see denied report");
}

Task<> Interception::refuse(Exchange& exchange, int status, std::string why) {
    const RequestHead& head = exchange.request();
    std::string line =
        "oyat: " + head.method + " " + url_for_people(head, around_.tls.has_value()) + " " + why + "\n";
    co_await exchange.respond(
        status, {{"Content-Type", "text/plain; charset=utf-8"}, {"X-Content-Type-Options", "nosniff"}},
        std::move(line));
}

Task<> Interception::pass(Exchange& exchange, UnderWay& under_way) {
    const RequestHead& head = exchange.request();
    OutgoingRequest request{.host = under_way.host,
                            .port = attempt_.port,
                            .tls = around_.tls.has_value(),
                            .method = head.method,
                            .target = head.target,
                            .fields = message_fields(head.fields),
                            .body = {}};
    if (around_.transform != nullptr) {
        if (const std::size_t limit = around_.transform->wants_body(request); limit > 0 && head.has_body) {
            request.body = std::exchange(under_way.began, {}) + co_await exchange.read_whole_body(limit);
        }
        if (Result<void> applied = co_await around_.transform->apply(request); !applied) {
            co_return co_await refuse(exchange, 403, "refused: " + applied.error().message());
        }
        carried_.insert(request.carries.begin(), request.carries.end());
    }
    std::optional<Error> failure;
    try {
        co_await pass_on(exchange, request, std::exchange(under_way.began, {}));
        co_return;
    } catch (const Error& error) {
        if (exchange.started() || (error.code() != Errc::denied && !is_upstream_failure(error))) throw;
        failure = error;
    }
    if (failure->code() == Errc::denied) {
        co_return co_await refuse(exchange, 403, "refused: " + failure->message());
    }
    boost::json::object failed = fields(head, under_way.host);
    failed["why"] = failure->message();
    around_.report.repeated("upstream.failed", std::move(failed), Fault::upstream);
    co_await refuse(exchange, 502, "failed: " + failure->message());
}

Task<> Interception::pass_on(Exchange& exchange, const OutgoingRequest& request, std::string began) {
    const RequestHead& head = exchange.request();
    for (;;) {
        const OwnUpstreams::Lease upstream = co_await upstreams_.take(offer_for(exchange));
        const bool may_have_died = upstream->exchanges > 0;
        const std::shared_ptr<http::BodyWatch> watch =
            around_.transform != nullptr && !request.body ? around_.transform->watch(request) : nullptr;
        http::Passing passing;
        passing.head = outgoing_head(request, head);
        passing.body = request.body;
        passing.body_began = std::exchange(began, {});  // what has a body is never sent twice
        if (watch) {
            passing.see_body = [watch](std::string_view piece) {
                if (Result<void> seen = watch->pass(piece); !seen) throw Error{seen.error()};
            };
        }
        const std::unique_ptr<http::AnswerFilter> filter =
            around_.transform != nullptr ? around_.transform->filter(request) : nullptr;
        passing.answer_filter = filter.get();
        passing.answer_fields = [&filter](const http::ResponseHead& answer) {
            return filter ? filtered(message_fields(answer.fields), *filter) : message_fields(answer.fields);
        };
        passing.answer_limit = limits_.answer;
        try {
            if (upstream->http2) {
                exchange.allow_silence(limits_.idle);  // calls with streams both ways may rest
                co_await http::pass_http2_exchange(exchange, *upstream, outgoing_fields(request, head),
                                                   std::move(passing));
            } else {
                co_await http::pass_exchange(exchange, *upstream, std::move(passing));
            }
            co_return;
        } catch (const Error& error) {
            if (error.code() != Errc::unavailable || !may_have_died || !may_repeat(head)) throw;
        }
    }
}

boost::json::object Interception::fields(const RequestHead& head, std::string_view host) const {
    boost::json::object fields{{"addr", attempt_.address.to_string()},
                               {"port", attempt_.port},
                               {"method", head.method},
                               {"path", path_for_record(head.path)}};
    if (!host.empty()) fields["host"] = host;
    if (around_.transform == nullptr) return fields;
    for (const auto& [name, text] :
         {std::pair{"method", std::string_view{head.method}}, {"path", head.path}, {"host", host}}) {
        if (!around_.transform->may_record(text)) fields[name] = "(withheld)";
    }
    return fields;
}

}  // namespace oyat::egress
