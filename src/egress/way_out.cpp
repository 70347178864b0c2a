#include "egress/way_out.hpp"

#include "base/throwing.hpp"
#include "egress/dns_answers.hpp"
#include "egress/proxy_client.hpp"
#include "egress/relay.hpp"
#include "io/connect.hpp"
#include "io/timer.hpp"

namespace oyat::egress {
namespace {

// The proxy is somebody's choice who may not be the operator, so its address passes the same set as a
// destination's (threats C-09).
Task<IpAddress> address_of(Shared& shared, const policy::Via& via) {
    if (const Result<IpAddress> address = IpAddress::parse(via.host)) {
        if (shared.destinations().judge(*address, via.port).allowed) co_return *address;
        throw Error{Errc::denied, Fault::policy, "the proxy's address may not be reached"};
    }
    const dns::Question question{.name = or_throw(dns::to_wire(via.host)), .type = dns::Type::a};
    const dns::Reply reply = co_await shared.upstreams.ask(question);
    const dns::Selection selection = or_throw(dns::select_answers(question, reply, shared.destinations()));
    for (const IpAddress& address : selection.addresses) {
        if (shared.destinations().judge(address, via.port).allowed) co_return address;
    }
    throw Error{Errc::unavailable, Fault::network, "the proxy's name leads nowhere that may be reached"};
}

socks::Target target_of(Destination to, const Passage& passage) {
    socks::Target target{.name = passage.attempt.name.value_or(passage.host), .address = {}, .port = to.port};
    if (target.name.empty()) target.address = to.address;
    return target;
}

Task<AsyncFd> connect_by_proxy(Shared& shared, Destination to, const Passage& passage) {
    const policy::Via& via = *passage.policy->via;
    const IpAddress proxy = co_await address_of(shared, via);
    AsyncFd outside{shared.executor,
                    co_await connect(proxy.with_port(via.port), shared.config.connect_limit)};
    co_await ask_proxy(outside, via, target_of(to, passage));
    co_return outside;
}

}  // namespace

Task<AsyncFd> connect_out(Shared& shared, Destination to, const Passage& passage) {
    // Judged when the program came; since then the host may have got the address for itself.
    if (!shared.destinations().judge(to.address, to.port).allowed) {
        throw Error{Errc::unavailable, Fault::policy, "its address may not be reached any more"};
    }
    std::optional<AsyncFd> outside;
    if (passage.policy->via) {
        outside = co_await with_timeout(shared.config.connect_limit, "connect by the proxy",
                                        connect_by_proxy(shared, to, passage));
    } else {
        outside.emplace(shared.executor,
                        co_await connect(to.address.with_port(to.port), shared.config.connect_limit));
    }
    reset_on_close(outside->get());
    co_return *std::move(outside);
}

}  // namespace oyat::egress
