#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/egress_control.hpp"
#include "egress/pins.hpp"
#include "egress/shared.hpp"
#include "io/async_fd.hpp"
#include "policy/policy.hpp"

namespace oyat::egress {

struct Destination {
    IpAddress address;
    std::uint16_t port = 0;
};

// What was found out about a connection, and what becomes of it.
struct Passage {
    enum class Way {
        refuse,
        pass,       // bytes both ways, unread
        read_tls,   // end its TLS and judge each request
        read_http,  // judge each request, in clear; the name is that of each request's Host
    };
    Way way = Way::refuse;
    core::PolicyPtr policy;     // by which it was judged; keeps the texts of `decision` alive
    policy::Attempt attempt;    // what is known of it, without a request
    policy::Decision decision;  // of a refusal by something else than a rule: only `rule`, which says what
    std::string host;           // the name that it was judged by, or what its address was looked up for; ""
    std::string bytes;          // what the program has sent already
    bool unheard = false;       // let through because the program waits for the server to begin
};

// Judges one connection of a sandbox before anything leaves. Looks at first bytes only where a rule asks for
// a name or a request, or the sandbox has placeholders of secrets.
class Judge {
public:
    // Asks our own resolver for a name and pins its addresses, if the sandbox may know them.
    using Lookup = std::function<Task<>(std::string name)>;

    // `policy` is the one in force, which may change meanwhile. All outlive this.
    Judge(Shared& shared, const core::PolicyPtr& policy, const Pins& pins, Lookup lookup)
        : shared_{shared}, policy_{policy}, pins_{pins}, lookup_{std::move(lookup)} {}

    // `first` was read already. Throws Error when the program goes away meanwhile.
    [[nodiscard]] Task<Passage> connection(AsyncFd& inside, Destination to, std::string first = {}) const;
    // The same once more for a passage that was let through unheard, when the program begins after all.
    [[nodiscard]] Task<Passage> heard(AsyncFd& inside, Passage passage) const;
    // One request of a connection that is read. `name` is canonical and must stand for the connection's
    // address.
    [[nodiscard]] policy::Decision request(const Passage& passage, std::string name,
                                           const policy::Request& request) const;
    // Whether this sandbox may take `name` for this address: it was told so, or would be now.
    [[nodiscard]] Task<bool> stands_for(std::string name, IpAddress address) const;
    // Whether a connection that passed may go on under the policy in force.
    [[nodiscard]] bool still_passes(const Passage& passage) const;

private:
    enum class Look { seen, refused };
    Task<Passage> by_first_bytes(AsyncFd& inside, Passage passage) const;
    Task<Look> look(AsyncFd& inside, Passage& passage) const;
    Task<bool> read_more(AsyncFd& inside, Passage& passage, Millis limit) const;
    Task<Look> take_name(Passage& passage, std::string name) const;
    [[nodiscard]] bool has_to_be_read(const Passage& passage) const;
    void take_pinned_name(Passage& passage) const;
    // By what is known now; false when more must be looked at.
    bool decide(Passage& passage) const;
    [[nodiscard]] bool may_carry_secrets() const;

    Shared& shared_;
    const core::PolicyPtr& policy_;
    const Pins& pins_;
    Lookup lookup_;
};

}  // namespace oyat::egress
