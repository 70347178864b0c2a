#pragma once

#include <map>
#include <string>

#include "base/clock.hpp"
#include "core/make_sandboxes.hpp"

namespace oyat::core {

// So many tokens a second, and a burst of them at most.
class TokenBucket {
public:
    TokenBucket(std::uint32_t per_second, std::uint32_t burst, MonoTime now)
        : per_second_{double(per_second)}, burst_{double(burst)}, tokens_{double(burst)}, last_{now} {}
    [[nodiscard]] bool take(MonoTime now);

private:
    double per_second_;
    double burst_;
    double tokens_;
    MonoTime last_;
};

// Who may have one more sandbox or command now. Refusals name the limit, its value and how to go on. What is
// admitted takes nothing from those that run.
class Admission {
public:
    Admission(const SandboxesConfig& config, const Clock& clock) : config_{config}, clock_{clock} {}

    // Throw Error{exhausted, Fault::limit}. An admitted create counts until leave(). How many there may be
    // is the tenant's measure; how fast they come, each key's own: one that runs wild stops nobody else's.
    void enter(const std::string& tenant, const std::string& key);
    void leave(const std::string& tenant);
    void start_command(const std::string& key);
    // One that was found living at start.
    void count(const std::string& tenant) { ++sandboxes_[tenant]; }

private:
    struct Rates {
        TokenBucket creates;
        TokenBucket starts;
    };
    Rates& rates_of(const std::string& key);

    const SandboxesConfig& config_;
    const Clock& clock_;
    std::map<std::string, std::uint32_t> sandboxes_;  // by tenant
    std::map<std::string, Rates> rates_;              // by key
};

}  // namespace oyat::core
