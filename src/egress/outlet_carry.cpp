#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>

#include "base/log.hpp"
#include "egress/outlet_connection.hpp"
#include "egress/way_out.hpp"
#include "io/race.hpp"
#include "io/timer.hpp"

// What becomes of one connection: it is judged, then refused, passed on, or read.
namespace oyat::egress {
namespace {

constexpr int kDetectDeadPeerSeconds = 60;

// Small writes are not held back, and a peer that vanished is noticed.
void tune(int inside, int outside) {
    const int on = 1;
    for (const int socket : {inside, outside}) {
        ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    ::setsockopt(outside, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    ::setsockopt(outside, IPPROTO_TCP, TCP_KEEPIDLE, &kDetectDeadPeerSeconds, sizeof kDetectDeadPeerSeconds);
}

}  // namespace

Task<> Outlet::carry(AsyncFd inside, std::unique_ptr<Connection> connection, std::string first) {
    try {
        connection->passage = co_await judge_.connection(inside, connection->to, std::move(first));
    } catch (const Error& error) {
        if (error.code() == Errc::canceled) throw;
        log::debug("a connection ended before it was judged", {{"why", error.message()}});
        co_return;
    }
    co_await go_on(std::move(inside), *connection);
}

Task<> Outlet::go_on(AsyncFd inside, Connection& connection) {
    if (connection.passage.way == Passage::Way::pass) {
        co_await pass(std::move(inside), connection);
    } else if (connection.is_read()) {
        co_await read(std::move(inside), connection);
    } else {
        report_refused(connection);
    }
}

Task<> Outlet::pass(AsyncFd inside, Connection& connection) {
    if (!connection.admit(connection.passage.policy, connection.passage.decision.by))
        co_return report_used_up(connection);
    try {
        report_.event("connect.allowed", connection.fields());
        // The policy may change while we are connecting: then not even a repeated SYN leaves any more.
        std::optional<AsyncFd> reached;
        co_await race(store_in(reached, connect_out(*shared_, connection.to, connection.passage)),
                      connection.over.pass());
        if (connection.end_reported || !reached) co_return;
        AsyncFd outside = *std::move(reached);
        if (connection.passage.unheard && !co_await server_begins(inside, outside, connection)) {
            if (connection.end_reported) co_return;
            outside.close();
            connection.passage = co_await judge_.heard(inside, std::move(connection.passage));
            co_return co_await go_on(std::move(inside), connection);
        }
        tune(inside.get(), outside.get());
        connection.relay = std::make_unique<Relay>(
            std::move(inside), std::move(outside),
            Relay::Limits{.idle = shared_->config.idle_limit,
                          .half_closed = shared_->config.half_closed_limit},
            shared_->passage, [&connection](Budgets::Direction direction, std::uint64_t bytes) {
                return connection.pay(direction, bytes);
            });
        co_await connection.relay->run(std::exchange(connection.passage.bytes, {}));
        report_end(connection, "closed");
    } catch (const Error& error) {
        if (error.code() == Errc::canceled) throw;
        report_failure(connection, error);
    }
}

Task<> Outlet::read(AsyncFd inside, Connection& connection) {
    try {
        report_.event("connect.allowed", connection.fields());
        Passage& passage = connection.passage;
        const EgressConfig& config = shared_->config;
        connection.reading = std::make_unique<Interception>(
            shared_->executor, inside.release(), std::exchange(passage.bytes, {}), passage.attempt,
            Interception::Surroundings{
                .clock = shared_->clock,
                .report = report_,
                .pace = pace_,
                .judge =
                    [this](const policy::Attempt& attempt) {
                        return Interception::Verdict{
                            policy_, policy::decide(*policy_, attempt, shared_->clock.wall())};
                    },
                .admit =
                    [&connection](const Interception::Verdict& verdict) {
                        return connection.admit(verdict.policy, verdict.decision.by);
                    },
                .stands_for =
                    [this, &connection](std::string name) {
                        return judge_.stands_for(std::move(name), connection.to.address);
                    },
                .connect = [this, &connection] { return connect_again(connection); },
                .transform = transform_.get(),
                .tls = passage.way == Passage::Way::read_tls ? std::optional{tls_reading()} : std::nullopt},
            Interception::Limits{.idle = config.idle_limit,
                                 .answer = config.answer_limit,
                                 .handshake = config.connect_limit,
                                 .requests = config.limits.requests_under_way});
        connection.reading->meter().on_moved([&connection](std::uint64_t up, std::uint64_t down) {
            std::chrono::nanoseconds wait{};
            try {
                if (up > 0) wait = connection.spend(Budgets::Direction::up, up);
                if (down > 0) wait = std::max(wait, connection.spend(Budgets::Direction::down, down));
            } catch (const Error&) {
                connection.cut();
            }
            return wait;
        });
        co_await connection.reading->run();
        report_end(connection, "closed");
    } catch (const Error& error) {
        if (error.code() == Errc::canceled) throw;
        report_failure(connection, error);
    }
}

TlsReading Outlet::tls_reading() {
    return {.identity = [this](const std::string& host) { return shared_->certificates.of(tenant_, host); },
            .trust = &shared_->trust};
}

Task<Fd> Outlet::connect_again(const Connection& connection) {
    AsyncFd outside = co_await connect_out(*shared_, connection.to, connection.passage);
    finish_on_close(outside.get());
    co_return outside.release();
}

// A program that was let through for its silence could begin after all, with a name that nobody has judged:
// then its bytes are looked at before they leave (threats E-04).
Task<bool> Outlet::server_begins(AsyncFd& inside, AsyncFd& outside, Connection& connection) {
    const std::size_t first =
        co_await with_timeout(shared_->config.idle_limit, "wait for either side to begin",
                              race(inside.readable(), outside.readable(), connection.over.pass()));
    co_return first == 1;
}

void Outlet::report_refused(const Connection& connection) {
    report_.repeated("connect.denied", connection.fields(), Fault::policy);
}

void Outlet::report_failure(Connection& connection, const Error& error) noexcept {
    if (connection.was_idle()) return report_end(connection, "idle", Fault::limit);
    report_end(connection, error.message(), Fault::network);
}

void Outlet::report_used_up(const Connection& connection) {
    boost::json::object fields = connection.fields();
    fields["budget_of"] = std::exchange(fields["rule"], "budget");
    report_.repeated("connect.denied", std::move(fields), Fault::limit);
}

void Outlet::report_end(Connection& connection, std::string why, std::optional<Fault> fault) noexcept {
    if (std::exchange(connection.end_reported, true)) return;
    boost::json::object fields = connection.fields();
    fields["reason"] = std::move(why);
    fields["up"] = connection.up();
    fields["down"] = connection.down();
    fields["ms"] = std::chrono::duration_cast<Millis>(shared_->clock.mono() - connection.opened).count();
    report_.event_logged("connect.closed", std::move(fields), fault);
}

}  // namespace oyat::egress
