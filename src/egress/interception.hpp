#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/egress_control.hpp"
#include "egress/meter.hpp"
#include "egress/own_upstreams.hpp"
#include "egress/report.hpp"
#include "http/request_transform.hpp"
#include "http/served_connection.hpp"
#include "http/tls.hpp"
#include "policy/policy.hpp"

namespace oyat::egress {

// How TLS is ended inside, and spoken to the world.
struct TlsReading {
    // What we show as a server for that name or address, signed by the authority that the sandbox trusts.
    std::function<std::shared_ptr<http::TlsContext>(const std::string& host)> identity;
    http::TlsContext* trust;  // of the world's certificates; outlives this
};

// One connection of a sandbox that is read: its TLS, if there is any, ends here; each request is judged by
// itself, and what is allowed is written anew for a connection of our own to the address that was judged.
class Interception {
public:
    struct Verdict {
        core::PolicyPtr policy;  // keeps what the decision points to
        policy::Decision decision;
    };
    // What the sandbox's way out lends; all of it outlives this.
    struct Surroundings {
        const Clock& clock;
        Report& report;
        Pace& pace;
        // By the policy that is in force at that moment. The attempt is final, and its strength `authority`.
        std::function<Verdict(const policy::Attempt&)> judge;
        // Of a request that the judge allows: whether its rule's budget does. Null: there are none.
        std::function<bool(const Verdict&)> admit;
        // Whether we resolved the name to the connection's address.
        std::function<Task<bool>(std::string name)> stands_for;
        // A connection to the address that was judged, whatever lies between.
        std::function<Task<Fd>()> connect;
        http::RequestTransform* transform = nullptr;  // null: requests leave as they were sent
        std::optional<TlsReading> tls;                // nothing: in clear
    };
    struct Limits {
        Millis idle;           // no byte on any of its sockets
        Millis answer;         // from a request's end to its answer's head
        Millis handshake;      // with either side
        std::size_t requests;  // at the same time
    };

    // `bytes` of the program were read from the socket already. `attempt` is what was judged so far.
    Interception(Executor executor, Fd inside, std::string bytes, policy::Attempt attempt,
                 Surroundings surroundings, Limits limits);
    ~Interception();
    Interception(const Interception&) = delete;
    Interception& operator=(const Interception&) = delete;

    // Serves requests until either side ends the connection. Throws Error when it was cut, or its TLS failed.
    Task<> run();
    // Resets all its sockets now; run() ends.
    void cut() noexcept { meter_.cut(); }
    // Judges the requests that are under way again, after a change of policy; false when one is not allowed
    // any more. The next ones are judged by the new policy anyway.
    [[nodiscard]] bool still_passes() const;

    // Whether some request of this connection had that secret put in.
    [[nodiscard]] bool has_carried(const std::string& secret) const { return carried_.contains(secret); }

    [[nodiscard]] Meter& meter() noexcept { return meter_; }

private:
    struct UnderWay;

    Task<http::TlsSession> end_tls(std::unique_ptr<Stream> stream);
    Task<OwnUpstreams::Connected> connect(http::TlsProtocols offered);

    Task<> answer(http::Exchange& exchange);
    Task<Result<std::string>> host_of(const http::RequestHead& head);
    [[nodiscard]] Verdict judge(const UnderWay& request) const;
    Task<> look_at_push(http::Exchange& exchange, UnderWay& request);
    Task<> pass(http::Exchange& exchange, UnderWay& request);
    Task<> pass_on(http::Exchange& exchange, const http::OutgoingRequest& request, std::string began);
    Task<> refuse(http::Exchange& exchange, int status, std::string why);
    Task<> deny(http::Exchange& exchange, const UnderWay& request, const Verdict& verdict);

    // What a registry is asked for, by the path of the request.
    void report_artefact(const http::RequestHead& head, std::string_view host) noexcept;
    void report_malformed(std::string_view why) noexcept;
    [[nodiscard]] boost::json::object fields(const http::RequestHead& head, std::string_view host) const;
    [[nodiscard]] std::string identity() const;  // the one host of this connection, when TLS says so

    Executor executor_;
    policy::Attempt attempt_;
    Surroundings around_;
    Limits limits_;
    Meter meter_;
    std::unique_ptr<Stream> inside_;  // until run()
    OwnUpstreams upstreams_;
    http::Service service_;
    std::set<std::string, std::less<>> carried_;  // names of secrets
    std::set<const UnderWay*> under_way_;         // each lives on the frame of its answer()
};

}  // namespace oyat::egress
