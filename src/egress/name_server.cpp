#include "egress/name_server.hpp"

#include <array>
#include <span>

#include "base/defer.hpp"
#include "egress/dns_answers.hpp"
#include "egress/name_rules.hpp"
#include "io/timer.hpp"

namespace oyat::egress {
namespace {

constexpr std::size_t kMaxDatagram = 4096;  // of a question: far more than one needs
constexpr std::size_t kMaxStreamMessage = 65'535;
constexpr int kMaxQuestionsAStream = 1000;
constexpr Millis kStreamIdle{10'000};
constexpr std::uint32_t kOwnTtl = 300;
// Who asks too much is slowed down, so that refusing costs us little; what then overflows is the sandbox's
// own buffer.
constexpr Millis kSlowDown{5};

dns::Record own_address(const dns::Question& question) {
    return {.name = question.name, .type = dns::Type::a, .ttl = kOwnTtl, .data = {'\x7f', 0, 0, 1}};
}

// False at the end of the stream before the first byte.
Task<bool> read_exactly(Stream& stream, std::span<char> into) {
    for (std::size_t have = 0; have < into.size();) {
        const std::size_t n = co_await stream.read_some(into.subspan(have));
        if (n == 0) co_return false;
        have += n;
    }
    co_return true;
}

}  // namespace

NameServer::NameServer(Shared& shared, const core::PolicyPtr& policy, Report& report, Pins& pins, Spawn spawn,
                       std::string sandbox, Fd udp, Fd tcp)
    : shared_{shared},
      policy_{policy},
      report_{report},
      pins_{pins},
      spawn_{std::move(spawn)},
      sandbox_{std::move(sandbox)},
      udp_{shared.executor, std::move(udp)},
      tcp_{shared.executor, std::move(tcp)},
      rate_{shared.config.limits.names_per_second, shared.config.limits.names_burst, shared.clock.mono()} {}

void NameServer::close() noexcept {
    udp_.close();
    tcp_.close();
}

Task<> NameServer::run_datagrams() {
    std::array<char, kMaxDatagram> buffer;
    for (;;) {
        const DatagramSocket::Received got = co_await udp_.recv_from(buffer);
        if (got.size > buffer.size()) continue;
        if (!rate_.take(shared_.clock.mono())) {
            report_.repeated("limit.hit", {{"limit", "names"}}, Fault::limit);
            co_await sleep_for(kSlowDown);
            continue;
        }
        spawn_(answer_datagram(std::string{buffer.data(), got.size}, got.from, got.to));
    }
}

Task<> NameServer::answer_datagram(std::string question, SocketAddress to,
                                   std::optional<SocketAddress> from) {
    const std::optional<std::string> bytes = co_await answer(std::move(question), true);
    if (bytes) udp_.send_to(*bytes, to, from);
}

Task<> NameServer::run_streams() {
    for (;;) {
        Acceptor::Connection connection = co_await tcp_.accept();
        if (streams_ >= shared_.config.limits.dns_streams) continue;
        ++streams_;
        spawn_(serve_stream(std::move(connection.socket)));
    }
}

Task<> NameServer::serve_stream(Fd socket) {
    const Defer left{[this] { --streams_; }};
    const std::unique_ptr<Stream> stream = make_stream(shared_.executor, std::move(socket));
    try {
        co_await serve_questions(*stream);
    } catch (const Error&) {
        // The client left, said nothing for too long, or the sandbox is ending: the stream just closes.
    }
}

Task<> NameServer::serve_questions(Stream& stream) {
    for (int i = 0; i < kMaxQuestionsAStream; ++i) {
        std::array<char, 2> size{};
        if (!co_await with_timeout(kStreamIdle, "wait for a question", read_exactly(stream, size))) co_return;
        std::string question(static_cast<std::size_t>(static_cast<std::uint8_t>(size[0])) << 8 |
                                 static_cast<std::uint8_t>(size[1]),
                             '\0');
        if (!co_await with_timeout(kStreamIdle, "read a question", read_exactly(stream, question))) co_return;
        while (!rate_.take(shared_.clock.mono())) {
            report_.repeated("limit.hit", {{"limit", "names"}}, Fault::limit);
            co_await sleep_for(kSlowDown);
        }
        std::optional<std::string> bytes = co_await answer(std::move(question), false);
        if (!bytes) co_return;
        const std::array<char, 2> length{static_cast<char>(bytes->size() >> 8),
                                         static_cast<char>(bytes->size() & 0xFF)};
        bytes->insert(0, length.data(), length.size());
        co_await with_timeout(kStreamIdle, "write an answer", stream.write_all(*bytes));
    }
}

Task<std::optional<std::string>> NameServer::answer(std::string question, bool datagram) {
    Result<dns::Query> query = dns::parse_query(question);
    if (!query) co_return std::nullopt;
    const std::string name = dns::to_text(query->question.name);
    dns::Answer answer;
    const core::PolicyPtr policy = policy_;
    const NameVerdict verdict =
        judge_name(*query, sandbox_, *policy, shared_.destinations(), shared_.clock.wall());
    using Action = NameVerdict::Action;
    switch (verdict.action) {
        case Action::ask: answer = co_await resolve(*query, name); break;
        case Action::own: answer.records.push_back(own_address(query->question)); break;
        case Action::empty: break;
        case Action::blocked: answer = deny(*query, name, verdict.reason, dns::Rcode::no_such_name); break;
        case Action::refused: answer = deny(*query, name, verdict.reason, dns::Rcode::refused); break;
        case Action::unknown_operation: answer.rcode = dns::Rcode::not_implemented; break;
    }
    const std::size_t limit = datagram ? query->payload_limit : kMaxStreamMessage;
    co_return dns::write_answer(*query, answer, limit);
}

Task<dns::Answer> NameServer::resolve(dns::Query query, std::string name) {
    dns::Answer answer{.rcode = dns::Rcode::server_failure};
    if (under_way_ >= shared_.config.limits.names_under_way) co_return answer;
    ++under_way_;
    const Defer done{[this] { --under_way_; }};
    dns::Reply reply;
    try {
        reply = co_await shared_.upstreams.ask(query.question);
    } catch (const Error& error) {
        if (error.code() == Errc::canceled) throw;
        report_.repeated(
            "dns.query",
            {{"name", name}, {"qtype", dns::to_string(query.question.type)}, {"reason", error.message()}},
            error.fault());
        co_return answer;
    }
    // The policy may have changed while the resolver was asked.
    const core::PolicyPtr policy = policy_;
    if (const policy::Decision now = policy::decide_name(*policy, name, shared_.clock.wall());
        now.action == policy::Action::deny) {
        co_return deny(query, name, now.rule, dns::Rcode::no_such_name);
    }
    const Result<dns::Selection> selection =
        dns::select_answers(query.question, reply, shared_.destinations());
    if (!selection) co_return answer;
    if (selection->withheld > 0 && selection->addresses.empty()) {
        co_return deny(query, name, "rebind", dns::Rcode::no_such_name);
    }
    report_.repeated("dns.query", {{"name", name}, {"qtype", dns::to_string(query.question.type)}});
    for (const IpAddress& address : selection->addresses) {
        pins_.pin(address, name, std::chrono::seconds{selection->records.back().ttl}, shared_.clock.mono());
    }
    answer.rcode = reply.rcode;
    answer.records = selection->records;
    co_return answer;
}

Task<> NameServer::look_up(std::string name) {
    const Result<dns::WireName> wire = dns::to_wire(name);
    if (!wire || !rate_.take(shared_.clock.mono())) co_return;
    dns::Query query;
    query.question = {.name = *wire, .type = dns::Type::a};
    const core::PolicyPtr policy = policy_;
    const NameVerdict verdict =
        judge_name(query, sandbox_, *policy, shared_.destinations(), shared_.clock.wall());
    if (verdict.action == NameVerdict::Action::ask) co_await resolve(query, std::move(name));
}

dns::Answer NameServer::deny(const dns::Query& query, const std::string& name, std::string_view reason,
                             dns::Rcode rcode) {
    report_.repeated("dns.denied",
                     {{"name", name}, {"qtype", dns::to_string(query.question.type)}, {"reason", reason}},
                     Fault::policy);
    return {.rcode = rcode, .records = {}, .blocked = true};
}

}  // namespace oyat::egress
