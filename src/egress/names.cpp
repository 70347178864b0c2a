#include "egress/names.hpp"

#include <algorithm>

#include "base/defer.hpp"
#include "egress/dns_answers.hpp"
#include "egress/registered_domain.hpp"

namespace oyat::egress {
namespace {

constexpr std::uint32_t kOwnTtl = 300;
constexpr std::chrono::seconds kLongestTtl{300};
// Of one sandbox, while those of all are many: a few that ask for names which nobody answers must not use up
// what all have together.
constexpr std::size_t kShareOfBusyResolvers = 8;

// What stands on the record for a name that holds what the record must not have.
constexpr const char* kWithheld = "(withheld)";

dns::Answer own_address(const dns::Question& question) {
    return {.records = {{question.name, dns::Type::a, kOwnTtl, {'\x7f', 0, 0, 1}}}};
}

}  // namespace

Names::Names(Shared& shared, const core::PolicyPtr& policy, Report& report, Pins& pins,
             http::RequestTransform* transform, std::string sandbox)
    : shared_{shared},
      policy_{policy},
      report_{report},
      pins_{pins},
      transform_{transform},
      sandbox_{std::move(sandbox)},
      rate_{shared.config.limits.names_per_second, shared.config.limits.names_burst, shared.clock.mono()} {}

bool Names::take_turn() {
    if (rate_.take(shared_.clock.mono())) return true;
    report_.repeated("limit.hit", {{"limit", "names"}}, Fault::limit);
    return false;
}

Task<> Names::look_up(std::string name) {
    const Result<dns::WireName> wire = dns::to_wire(name);
    if (!wire || !take_turn()) co_return;
    dns::Query query;
    query.question.name = *wire;
    co_await answer_to(std::move(query));
}

Task<dns::Answer> Names::answer_to(dns::Query query) {
    std::string name = dns::to_text(query.question.name);
    // Before any rule: whoever tries is told so, also where the name could not be asked for anyway.
    if (transform_ != nullptr && !transform_->may_look_up(name)) {
        co_return deny(query, kWithheld, "secret-placeholder", dns::Rcode::refused);
    }
    const core::PolicyPtr policy = policy_;
    const NameVerdict verdict =
        judge_name(query, sandbox_, *policy, shared_.destinations(), shared_.clock.wall());
    using Action = NameVerdict::Action;
    switch (verdict.action) {
        case Action::ask: co_return co_await resolve(std::move(query), std::move(name));
        case Action::own: report_query(query, name, "own"); co_return own_address(query.question);
        case Action::empty: report_query(query, name, "no-data"); co_return dns::Answer{};
        case Action::blocked: co_return deny(query, name, verdict.reason, dns::Rcode::no_such_name);
        case Action::refused: co_return deny(query, name, verdict.reason, dns::Rcode::refused);
        case Action::unknown_operation: break;
    }
    co_return deny(query, name, "operation", dns::Rcode::not_implemented);
}

Task<dns::Answer> Names::resolve(dns::Query query, std::string name) {
    const MonoTime now = shared_.clock.mono();
    if (const auto entry = shared_.hosts.reply_to(query.question, name)) {
        co_return give(query, name, *entry, kLongestTtl);
    }
    if (const std::string_view reason = watch(name); !reason.empty()) {
        co_return deny(query, name, reason, dns::Rcode::refused);
    }
    if (const auto known = cache_.find(name, query.question.type, now)) {
        co_return give(query, name, *known->reply, known->left);
    }
    co_return co_await ask_resolvers(std::move(query), std::move(name));
}

std::string_view Names::watch(const std::string& name) {
    switch (tunnels_.see(name, shared_.clock.mono())) {
        case TunnelWatch::Verdict::pass: return "";
        case TunnelWatch::Verdict::refused: break;
        case TunnelWatch::Verdict::found:
            report_.event_logged("signal.dns_tunnel",
                                 {{"domain", registered_domain(name)}, {"names", TunnelWatch::kMaxNames + 1}},
                                 Fault::policy);
    }
    return "dns-tunnel";
}

Task<dns::Answer> Names::ask_resolvers(dns::Query query, std::string name) {
    const std::size_t share =
        shared_.upstreams.busy() ? kShareOfBusyResolvers : shared_.config.limits.names_under_way;
    if (under_way_ >= share) {
        report_.repeated("limit.hit", {{"limit", "names_under_way"}}, Fault::limit);
        co_return dns::Answer{.rcode = dns::Rcode::server_failure};
    }
    ++under_way_;
    const Defer done{[this] { --under_way_; }};
    dns::Reply reply;
    try {
        reply = co_await shared_.upstreams.ask(query.question);
    } catch (const Error& error) {
        if (error.code() == Errc::canceled) throw;
        co_return fail(query, name, error.message(), error.fault());
    }
    // The policy may have changed while the resolver was asked.
    const core::PolicyPtr policy = policy_;
    if (const policy::Decision now = policy::decide_name(*policy, name, shared_.clock.wall());
        now.action == policy::Action::deny) {
        co_return deny(query, name, now.rule, dns::Rcode::no_such_name);
    }
    cache_.keep(name, reply, shared_.clock.mono());
    co_return give(query, name, reply, kLongestTtl);
}

dns::Answer Names::give(const dns::Query& query, const std::string& name, const dns::Reply& reply,
                        std::chrono::seconds left) {
    Result<dns::Selection> selection = dns::select_answers(query.question, reply, shared_.destinations());
    if (!selection) return fail(query, name, selection.error().message(), Fault::upstream);
    if (selection->withheld > 0) {
        const std::string_view reason = shared_.hosts.contains(name) ? "private" : "rebind";
        dns::Answer denied = deny(query, name, reason, dns::Rcode::no_such_name);
        if (selection->addresses.empty()) return denied;
    }
    report_query(query, name,
                 reply.rcode == dns::Rcode::no_such_name ? "no-such-name"
                 : selection->records.empty()            ? "no-data"
                                                         : "");
    auto ttl = static_cast<std::uint32_t>(left.count());
    for (const dns::Record& record : selection->records) ttl = std::min(ttl, record.ttl);
    for (dns::Record& record : selection->records) record.ttl = ttl;
    for (const IpAddress& address : selection->addresses) {
        pins_.pin(address, name, std::chrono::seconds{ttl}, shared_.clock.mono());
    }
    return {.rcode = reply.rcode, .records = std::move(selection->records)};
}

void Names::report_query(const dns::Query& query, const std::string& name, std::string_view answer) {
    boost::json::object fields{{"name", name}, {"qtype", dns::to_string(query.question.type)}};
    if (!answer.empty()) fields["answer"] = answer;
    report_.repeated("dns.query", std::move(fields));
}

dns::Answer Names::fail(const dns::Query& query, const std::string& name, std::string_view reason,
                        Fault fault) {
    report_.repeated("dns.query",
                     {{"name", name}, {"qtype", dns::to_string(query.question.type)}, {"reason", reason}},
                     fault);
    // Why is the operator's to know: it may name a resolver inside.
    return {.rcode = dns::Rcode::server_failure,
            .error = dns::ExtendedError::network_error,
            .reason = "no usable answer"};
}

dns::Answer Names::deny(const dns::Query& query, const std::string& name, std::string_view reason,
                        dns::Rcode rcode) {
    report_.repeated("dns.denied",
                     {{"name", name}, {"qtype", dns::to_string(query.question.type)}, {"reason", reason}},
                     Fault::policy);
    return {.rcode = rcode, .error = dns::ExtendedError::blocked, .reason = std::string{reason}};
}

}  // namespace oyat::egress
