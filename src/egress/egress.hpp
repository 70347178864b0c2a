#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "core/egress_control.hpp"
#include "core/event.hpp"
#include "core/keeper.hpp"
#include "core/store.hpp"
#include "egress/upstreams.hpp"
#include "http/request_transform.hpp"
#include "io/address.hpp"

namespace oyat::egress {

// What one sandbox may use of oyatd at once (threats X-06).
struct EgressLimits {
    std::size_t connections = 512;
    double connections_per_second = 100, connections_burst = 500;
    double names_per_second = 50, names_burst = 200;
    std::size_t names_under_way = 64;
    std::size_t dns_streams = 8;                   // connections to the name server
    std::size_t requests_under_way = 8;            // of one connection that is read
    std::uint64_t up_bytes_a_day = 2ull << 30;     // 0 = no bound
    std::uint64_t down_bytes_a_day = 50ull << 30;  // the same
    std::uint64_t bytes_per_second = 0;            // both directions together; 0 = as fast as it goes
    std::size_t connections_of_all = 8192;         // over all sandboxes: each takes two descriptors of oyatd
};

struct EgressConfig {
    std::vector<std::string> reachable_private;  // "10.20.0.0/16": see OperatorOpenings
    std::vector<std::string> open_always_deny;   // "10.1.2.3:8080"
    UpstreamOptions upstreams;
    std::map<std::string, std::vector<std::string>> hosts;  // see HostEntries
    // Trusted for the servers that sandboxes reach by connections that are read, beside the machine's own.
    std::string authorities_pem;
    std::string authority_directory;  // of the tenants' own authorities; "": in memory only
    // What a sandbox's requests pass through where they are read; made once for each, may be empty.
    std::function<std::unique_ptr<http::RequestTransform>(const std::string& sandbox)> transform;
    EgressLimits limits;
    Millis connect_limit{10'000};
    Millis idle_limit{3'600'000};       // no byte in either direction
    Millis half_closed_limit{300'000};  // the same, after one side has finished
    Millis answer_limit{
        900'000};  // for the head of an answer, where requests are read: models think for long
    // Where a redirected connection was going. A parameter so that tests need no netfilter.
    std::function<std::optional<SocketAddress>(int socket)> original_destination = oyat::original_destination;
};

// The only way out of all sandboxes: a transparent proxy and a name server for each.
class Egress : public core::EgressControl {
public:
    // Reads what an earlier oyatd kept for its sandboxes: before the first attach().
    virtual Task<> load() = 0;
    // Cuts every connection that has carried this secret; returns how many.
    virtual std::size_t revoked(const std::string& tenant, const std::string& secret) = 0;
    // Forgets what was kept for sandboxes that are no more: after all others were attached.
    virtual Task<> forget_the_rest() = 0;
    // Cuts everything and waits until nothing runs any more. To be awaited before destruction.
    virtual Task<> close() = 0;
};

// What of this is a limit of a sandbox, for those who show limits.
[[nodiscard]] std::vector<core::LimitFacts> limit_facts(const EgressLimits& limits);

// All on the executor's loop; bus, clock and store outlive it. Throws Error{invalid_argument} for a mistake
// in the operator's lists.
[[nodiscard]] std::unique_ptr<Egress> make_egress(Executor executor, core::EventBus& events,
                                                  const Clock& clock, core::Store& store,
                                                  EgressConfig config);

}  // namespace oyat::egress
