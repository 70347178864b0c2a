#include "egress/name_server.hpp"

#include <array>
#include <span>

#include "base/defer.hpp"
#include "io/timer.hpp"

namespace oyat::egress {
namespace {

constexpr std::size_t kMaxDatagram = 4096;  // of a question: far more than one needs
constexpr std::size_t kMaxStreamMessage = 65'535;
constexpr int kMaxQuestionsAStream = 1000;
constexpr Millis kStreamIdle{10'000};
// Who asks too much is slowed down, so that refusing costs us little; what then overflows is the sandbox's
// own buffer.
constexpr Millis kSlowDown{5};
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

NameServer::NameServer(Shared& shared, const core::PolicyPtr& policy, Report& report, Pins& pins,
                       http::RequestTransform* transform, Spawn spawn, std::string sandbox, Fd udp, Fd tcp)
    : shared_{shared},
      report_{report},
      spawn_{std::move(spawn)},
      names_{shared, policy, report, pins, transform, std::move(sandbox)},
      udp_{shared.executor, std::move(udp)},
      tcp_{shared.executor, std::move(tcp)} {}

void NameServer::close() noexcept {
    udp_.close();
    tcp_.close();
}

Task<> NameServer::run_datagrams() {
    std::array<char, kMaxDatagram> buffer;
    for (;;) {
        const DatagramSocket::Received got = co_await udp_.recv_from(buffer);
        // Whatever came counts, also what is no question: else a flood of it would keep the loop for itself.
        if (!names_.take_turn()) {
            co_await sleep_for(kSlowDown);
            continue;
        }
        if (got.size > buffer.size()) {
            report_.repeated("dns.denied", {{"reason", "malformed"}}, Fault::policy);
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
        if (streams_ >= shared_.config.limits.dns_streams) {
            report_.repeated("limit.hit", {{"limit", "dns_streams"}}, Fault::limit);
            connection.socket.reset();
            co_await sleep_for(kSlowDown);
            continue;
        }
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
        while (!names_.take_turn()) co_await sleep_for(kSlowDown);
        std::optional<std::string> bytes = co_await answer(std::move(question), false);
        if (!bytes) co_return;
        const std::array<char, 2> length{static_cast<char>(bytes->size() >> 8),
                                         static_cast<char>(bytes->size() & 0xFF)};
        bytes->insert(0, length.data(), length.size());
        co_await with_timeout(kStreamIdle, "write an answer", stream.write_all(*bytes));
    }
}

Task<std::optional<std::string>> NameServer::answer(std::string question, bool datagram) {
    const Result<dns::Query> query = dns::parse_query(question);
    if (!query) {
        report_.repeated("dns.denied", {{"reason", "malformed"}}, Fault::policy);
        co_return std::nullopt;
    }
    const dns::Answer answer = co_await names_.answer_to(*query);
    const std::size_t limit = datagram ? query->payload_limit : kMaxStreamMessage;
    co_return dns::write_answer(*query, answer, limit);
}

}  // namespace oyat::egress
