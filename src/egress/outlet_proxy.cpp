#include "base/log.hpp"
#include "egress/outlet_connection.hpp"
#include "io/timer.hpp"

// Programs that name their destination to a proxy inside.
namespace oyat::egress {
namespace {

constexpr Millis kProxyTalk{10'000};

}  // namespace

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

}  // namespace oyat::egress
