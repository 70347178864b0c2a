#include "egress/outlet.hpp"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>

#include "base/log.hpp"
#include "egress/way_out.hpp"
#include "io/gate.hpp"
#include "io/race.hpp"
#include "io/timer.hpp"

namespace oyat::egress {
namespace {

// Who connects too fast is slowed down, so that refusing costs us little.
constexpr Millis kSlowDown{5};
constexpr Millis kProxyTalk{10'000};
constexpr int kDetectDeadPeerSeconds = 60;
constexpr Millis kGather{500};
constexpr Millis kBetweenSaves{10'000};

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

// One connection of the sandbox, from its admission to its end. Counted as long as it exists.
struct Outlet::Connection {
    Connection(Outlet& owner, Destination destination, std::string_view reached_by)
        : outlet{owner},
          to{destination},
          reach{reached_by},
          opened{owner.shared_->clock.mono()},
          pinned{owner.pins_, destination.address, opened} {
        ++outlet.shared_->connections;
        outlet.connections_.insert(this);
    }
    ~Connection() {
        for (const Counted& counted : counted_) outlet.budgets_.close(counted.rule);
        --outlet.shared_->connections;
        outlet.connections_.erase(this);
    }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    [[nodiscard]] bool is_read() const {
        return passage.way == Passage::Way::read_http || passage.way == Passage::Way::read_tls;
    }
    [[nodiscard]] bool still_passes() const {
        return outlet.judge_.still_passes(passage) && (!reading || reading->still_passes());
    }
    void cut() const noexcept {
        if (relay) relay->cut();
        if (reading) reading->cut();
    }
    [[nodiscard]] std::uint64_t up() const {
        return relay ? relay->up() : reading ? reading->meter().up() : 0;
    }
    [[nodiscard]] std::uint64_t down() const {
        return relay ? relay->down() : reading ? reading->meter().down() : 0;
    }
    [[nodiscard]] bool was_idle() const {
        return (relay && relay->was_idle()) || (reading && reading->meter().was_idle());
    }

    // Whether the budgets of the sandbox and of the rule allow it, or one more request on it.
    [[nodiscard]] bool admit(const core::PolicyPtr& policy, const policy::Rule* rule) {
        const MonoTime now = outlet.shared_->clock.mono();
        const bool known = std::ranges::any_of(counted_, [&](const Counted& counted) {
            return counted.rule == rule ||
                   (rule != nullptr && counted.rule != nullptr && counted.rule->id == rule->id);
        });
        if (!(known ? outlet.budgets_.request(rule, now) : outlet.budgets_.open(rule, now))) return false;
        if (!known) counted_.push_back({policy, rule});
        payer_ = {policy, rule};
        return true;
    }
    // After bytes have passed, on account of whoever was admitted last: how long to wait before the next.
    [[nodiscard]] std::chrono::nanoseconds pay(Budgets::Direction direction, std::uint64_t bytes) {
        return std::max(outlet.pace_.after(bytes, outlet.shared_->clock.mono()), spend(direction, bytes));
    }
    std::chrono::nanoseconds spend(Budgets::Direction direction, std::uint64_t bytes) {
        return outlet.budgets_.spend(payer_.rule, direction, bytes, outlet.shared_->clock.mono());
    }

    [[nodiscard]] boost::json::object fields() const {
        // Of what is read no rule has decided yet: each request has its own.
        boost::json::object fields{{"addr", to.address.to_string()},
                                   {"port", to.port},
                                   {"rule", is_read() ? "each-request" : passage.decision.rule}};
        if (!passage.host.empty()) fields["host"] = passage.host;
        if (!passage.policy) return fields;
        fields["reach"] = reach;
        fields["layer"] = policy::to_string(passage.decision.layer);
        fields["strength"] = policy::to_string(passage.attempt.strength);
        fields["generation"] = passage.policy->generation;
        if (!passage.decision.category.empty()) fields["category"] = passage.decision.category;
        return fields;
    }

    Outlet& outlet;
    Destination to;
    std::string_view reach;  // why its address may be reached at all
    MonoTime opened;
    Pins::Hold pinned;
    Passage passage;                        // without a policy while it is judged
    std::unique_ptr<Interception> reading;  // null unless its requests are judged one by one
    std::unique_ptr<Relay> relay;           // null until bytes may pass
    Gate over;                              // opens when it is cut before that
    bool end_reported = false;

private:
    struct Counted {
        core::PolicyPtr policy;  // keeps the rule alive
        const policy::Rule* rule = nullptr;
    };
    std::vector<Counted> counted_;
    Counted payer_;
};

Outlet::Outlet(std::shared_ptr<Shared> shared, std::string sandbox, std::string tenant,
               core::EgressSockets sockets, core::PolicyPtr policy)
    : shared_{std::move(shared)},
      sandbox_{sandbox},
      tenant_{std::move(tenant)},
      policy_{std::move(policy)},
      report_{shared_->executor, shared_->events, sandbox, tenant_},
      listener_{shared_->executor, std::move(sockets.tcp)},
      rate_{shared_->config.limits.connections_per_second, shared_->config.limits.connections_burst,
            shared_->clock.mono()},
      pace_{shared_->config.limits.bytes_per_second},
      budgets_{{.up_bytes = shared_->config.limits.up_bytes_a_day,
                .down_bytes = shared_->config.limits.down_bytes_a_day},
               [this](std::string_view budget, std::string_view what, std::uint64_t limit) {
                   report_.event_logged(what == "near" ? "limit.near" : "limit.hit",
                                        {{"limit", "egress bytes " + std::string{budget}}, {"bytes", limit}},
                                        Fault::limit);
               }},
      transform_{shared_->config.transform ? shared_->config.transform(sandbox) : nullptr},
      tasks_{shared_->executor},
      names_{*shared_,
             policy_,
             report_,
             pins_,
             [this](Task<> task) { spawn(std::move(task)); },
             std::move(sandbox),
             std::move(sockets.dns_udp),
             std::move(sockets.dns_tcp)},
      judge_{*shared_, policy_, pins_,
             [this](std::string name) { return names_.names().look_up(std::move(name)); }} {}

Outlet::~Outlet() = default;

// Each task shares in the outlet. What it still meets after the cut is the cut itself. The keeper may be
// earlier: it revokes the listeners of a box that ends.
Task<> Outlet::hold(std::shared_ptr<Outlet> self, Task<> task) {
    try {
        co_await std::move(task);
    } catch (const Error& error) {
        if (self->cut_) co_return;
        if (error.code() != Errc::unavailable) throw;
        log::debug("a way out has ended", {{"why", error.message()}});
    }
}

void Outlet::spawn(Task<> task) {
    tasks_.spawn(hold(shared_from_this(), std::move(task)));
}

void Outlet::open() {
    spawn(accept_all());
    spawn(names_.run_datagrams());
    spawn(names_.run_streams());
    spawn(keep_pins());
}

std::size_t Outlet::update(core::PolicyPtr policy) {
    policy_ = std::move(policy);
    std::size_t cut = 0;
    for (Connection* connection : connections_) {
        // Those that are still looked at will be judged by the new policy.
        if (!connection->passage.policy || connection->still_passes()) continue;
        report_end(*connection, "policy", Fault::policy);
        connection->cut();
        connection->over.open();
        ++cut;
    }
    return cut;
}

void Outlet::cut() {
    cut_ = true;
    for (Connection* connection : connections_) {
        if (connection->passage.policy) report_end(*connection, "sandbox ended");
        connection->cut();
    }
    listener_.close();
    names_.close();
    tasks_.cancel();
    report_.flush();
}

Task<> Outlet::close() {
    cut();
    co_await tasks_.close();
}

// What a program looks up at once is written once, and a busy one writes seldom.
Task<> Outlet::keep_pins() {
    for (;;) {
        co_await pins_.changed();
        co_await sleep_for(kGather);
        co_await save_pins();
        co_await sleep_for(kBetweenSaves);
    }
}

Task<> Outlet::save_pins() {
    try {
        co_await shared_->kept_pins.save(sandbox_, pins());
    } catch (const Error& error) {
        if (error.code() == Errc::canceled) throw;
        log::error("pinned names not saved", {{"sandbox", sandbox_}, {"error", error.message()}});
    }
}

Task<> Outlet::accept_all() {
    for (;;) {
        Acceptor::Connection incoming = co_await listener_.accept();
        const EgressLimits& limits = shared_->config.limits;
        if (!rate_.take(shared_->clock.mono()) || connections_.size() >= limits.connections ||
            shared_->connections >= limits.connections_of_all) {
            report_.repeated("limit.hit", {{"limit", "connections"}}, Fault::limit);
            reset_on_close(incoming.socket.get());
            incoming.socket.reset();
            co_await sleep_for(kSlowDown);
            continue;
        }
        admit(std::move(incoming.socket));
    }
}

void Outlet::admit(Fd socket) {
    // Whatever happens from here on, the program inside learns of it at once.
    reset_on_close(socket.get());
    const std::optional<Destination> to = destination_of(socket.get());
    if (!to) return report_denied(to, "own-listener");
    if (to->address == IpAddress::v4(kProxyAddress)) {
        // Counts from now on: who only talks to the proxy costs us a descriptor, too.
        return spawn(serve_proxy(std::move(socket), std::make_unique<Connection>(*this, *to, "")));
    }
    const Verdict near = shared_->destinations().judge(to->address, to->port);
    if (!near.allowed) return report_denied(to, near.rule);
    spawn(carry(AsyncFd{shared_->executor, std::move(socket)},
                std::make_unique<Connection>(*this, *to, near.rule), {}));
}

Task<> Outlet::serve_proxy(Fd socket, std::unique_ptr<Connection> connection) {
    const std::uint16_t port = connection->to.port;
    if (port != kHttpProxyPort && port != kSocksPort) co_return report_denied(connection->to, "private");
    AsyncFd inside{shared_->executor, std::move(socket)};
    ExplicitProxy proxy{port == kSocksPort ? ExplicitProxy::Kind::socks : ExplicitProxy::Kind::http, inside};
    std::optional<Destination> to;
    try {
        to = co_await with_timeout(kProxyTalk, "hear where to connect", destination_of(proxy));
    } catch (const Error& error) {
        if (error.code() != Errc::deadline) throw;
        log::debug("a program did not say where to connect");
    }
    if (!to) co_return;
    const Verdict near = shared_->destinations().judge(to->address, to->port);
    if (!near.allowed) {
        report_denied(to, near.rule);
        co_return co_await proxy.refuse(socks::Reply::not_allowed,
                                        "denied by rule " + std::string{near.rule});
    }
    co_await proxy.accept();
    connection->to = *to;
    connection->reach = near.rule;
    co_await carry(std::move(inside), std::move(connection), proxy.rest());
}

// A name is looked up as if the program had asked for it, so the same rules say whether it may.
Task<std::optional<Destination>> Outlet::destination_of(ExplicitProxy& proxy) {
    const std::optional<socks::Target> target = co_await proxy.target();
    if (!target) co_return std::nullopt;
    if (target->address) co_return Destination{*target->address, target->port};
    const Result<std::string> name = policy::canonical_host(target->name);
    if (!name) {
        report_.repeated("connect.denied", {{"rule", "no-host-name"}, {"port", target->port}}, Fault::policy);
        co_await proxy.refuse(socks::Reply::failure, "not a host name");
        co_return std::nullopt;
    }
    co_await names_.names().look_up(*name);
    const std::vector<IpAddress> addresses = pins_.addresses_of(*name, shared_->clock.mono());
    if (addresses.empty()) {
        const bool denied =
            policy::decide_name(*policy_, *name, shared_->clock.wall()).action == policy::Action::deny;
        co_await proxy.refuse(denied ? socks::Reply::not_allowed : socks::Reply::unreachable,
                              denied ? "the name is denied by policy" : "the name was not found");
        co_return std::nullopt;
    }
    co_return Destination{addresses.front(), target->port};
}

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
        // What is read is not slowed down by a budget, only cut in the end.
        connection.reading->meter().on_moved([&connection](std::uint64_t up, std::uint64_t down) {
            try {
                if (up > 0) (void)connection.spend(Budgets::Direction::up, up);
                if (down > 0) (void)connection.spend(Budgets::Direction::down, down);
            } catch (const Error&) {
                connection.cut();
            }
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

// The address was judged when the connection came. Since then the host may have got it for itself.
Task<Fd> Outlet::connect_again(const Connection& connection) {
    const Destination& to = connection.to;
    if (const Verdict near = shared_->destinations().judge(to.address, to.port); !near.allowed) {
        throw Error{Errc::unavailable, "its address may not be reached any more"};
    }
    AsyncFd outside = co_await connect_out(*shared_, to, connection.passage);
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

std::optional<Destination> Outlet::destination_of(int socket) const {
    const std::optional<SocketAddress> original = shared_->config.original_destination(socket);
    // A program that connects to the listener itself was not redirected: there is nowhere to go.
    if (!original || *original == local_address(socket)) return std::nullopt;
    const std::optional<IpAddress> address = IpAddress::of(*original);
    if (!address) return std::nullopt;
    return Destination{*address, original->port()};
}

void Outlet::report_denied(const std::optional<Destination>& to, std::string_view rule) {
    boost::json::object fields{{"rule", rule}};
    if (to) {
        fields["addr"] = to->address.to_string();
        fields["port"] = to->port;
        if (std::string host = pins_.name_of(to->address, shared_->clock.mono()); !host.empty()) {
            fields["host"] = std::move(host);
        }
    }
    report_.repeated("connect.denied", std::move(fields), Fault::policy);
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
