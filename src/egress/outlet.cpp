#include "egress/outlet.hpp"

#include "base/log.hpp"
#include "egress/outlet_connection.hpp"
#include "io/timer.hpp"

namespace oyat::egress {
namespace {

// Who connects too fast is slowed down, so that refusing costs us little.
constexpr Millis kSlowDown{5};
constexpr Millis kGather{500};
constexpr Millis kBetweenSaves{10'000};

}  // namespace

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
             transform_.get(),
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

std::size_t Outlet::revoked(const std::string& secret) {
    std::size_t cut = 0;
    for (Connection* connection : connections_) {
        if (!connection->reading || !connection->reading->has_carried(secret)) continue;
        report_end(*connection, "a secret that it carried was revoked", Fault::policy);
        connection->cut();
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

}  // namespace oyat::egress
