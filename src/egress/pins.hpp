#pragma once

#include <boost/json/array.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "io/gate.hpp"
#include "io/ip_address.hpp"

namespace oyat::egress {

// Which names one sandbox was given an address for. Never shared between sandboxes: what one looked up says
// nothing of another (threats R-10). A pin outlives its DNS lifetime by a minute, since programs connect
// late, and does not end while a connection to its address lives or the sandbox is paused.
class Pins {
public:
    static constexpr std::size_t kMax = 4096;
    static constexpr std::size_t kMaxNames = 64;   // of one address, the latest: each is judged at a connect
    static constexpr std::size_t kMaxSaved = 512;  // the latest: what is written down stays small

    void pin(const IpAddress& address, const std::string& name, std::chrono::seconds ttl, MonoTime now);
    // All names that stand for the address, the one looked up last at the end.
    [[nodiscard]] std::vector<std::string> names_of(const IpAddress& address, MonoTime now) const;
    // The name that was looked up last, or "".
    [[nodiscard]] std::string name_of(const IpAddress& address, MonoTime now) const;
    // Where a name leads now, the address that was given for it last first.
    [[nodiscard]] std::vector<IpAddress> addresses_of(std::string_view name, MonoTime now) const;
    [[nodiscard]] std::size_t size() const { return pins_.size(); }

    // A connection to an address. The pins outlive it.
    class Hold {
    public:
        Hold(Pins& pins, const IpAddress& address, MonoTime now);
        Hold(const Hold&) = delete;
        Hold& operator=(const Hold&) = delete;
        ~Hold();

    private:
        Pins& pins_;
        IpAddress address_;
    };

    // A paused sandbox's time stands still.
    void pause(MonoTime now);
    void resume(MonoTime now);

    // There is something to write down that to_json() has not given yet.
    [[nodiscard]] bool have_changed() const { return changed_.is_open(); }
    Task<> changed() { return changed_.pass(); }  // waits for it
    // [["192.0.2.7", "www.example.org", seconds left], ...], the one looked up last at the end.
    [[nodiscard]] boost::json::array to_json(MonoTime now);
    // Takes over what was written down earlier; what is not understood is left out.
    void restore(const boost::json::array& saved, MonoTime now);

private:
    struct Pin {
        MonoTime until;
        std::uint64_t order = 0;  // of the lookups
    };
    using ByPlace = std::map<std::pair<IpAddress, std::string>, Pin>;
    using ByEnd = std::multimap<MonoTime, ByPlace::iterator>;

    [[nodiscard]] MonoTime at(MonoTime now) const;
    [[nodiscard]] bool ended(const Pin& pin, MonoTime now) const { return pin.until < at(now); }
    void insert(const IpAddress& address, const std::string& name, MonoTime until);
    void bound_names(const IpAddress& address);
    void drop(ByPlace::iterator pin);

    ByPlace pins_;
    ByEnd by_end_;
    std::map<IpAddress, std::size_t> held_;  // number of connections
    std::uint64_t lookups_ = 0;
    std::chrono::nanoseconds paused_for_{0};
    MonoTime paused_since_{MonoTime::max()};
    oyat::Gate changed_;
};

}  // namespace oyat::egress
