#include "egress/shared.hpp"

#include "base/throwing.hpp"

namespace oyat::egress {
namespace {

constexpr std::size_t kPassageSize = 64 * 1024;

}  // namespace

Shared::Shared(Executor loop, core::EventBus& bus, const Clock& time, core::Store& store,
               EgressConfig settings)
    : executor{std::move(loop)},
      events{bus},
      clock{time},
      config{std::move(settings)},
      upstreams{executor, config.upstreams},
      hosts{in("dns: hosts", [&] { return or_throw(HostEntries::parse(config.hosts)); })},
      kept_pins{store},
      authorities{config.authority_directory},
      certificates{authorities, clock},
      trust{http::TlsContext::client_trusting_also(config.authorities_pem)},
      passage(kPassageSize),
      destinations_{or_throw(OperatorOpenings::parse(config.reachable_private, config.open_always_deny))} {}

const Destinations& Shared::destinations() {
    if (host_addresses_.changed()) destinations_.set_host_addresses(HostAddresses::read());
    return destinations_;
}

}  // namespace oyat::egress
