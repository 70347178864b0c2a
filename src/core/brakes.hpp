#pragma once

#include <string>

#include "core/keeper.hpp"
#include "core/principal.hpp"
#include "io/task.hpp"

namespace oyat::core {

// What an operator does to sandboxes of all tenants, with or against their clients and their agents. Each
// order goes on the record, but is carried out also when the record can't be written.
class Brakes {
public:
    virtual ~Brakes() = default;

    // Returns when it is in force: what is held stands still, what was connected is cut. not_found: one of
    // the ids is none of a living sandbox.
    virtual Task<BrakeFacts> pull(BrakeOrder order, Principal who) = 0;
    // Ends a sandbox past everything that is under way in it, its agent and its clients.
    virtual Task<> put_down(std::string id, Principal who) = 0;
    // What this key is making now comes to nothing. For a key that is being revoked.
    virtual void stop_creates_of(std::string key_id) = 0;
    // As of now, of all sandboxes.
    [[nodiscard]] virtual bool stopped() const = 0;
    [[nodiscard]] virtual bool egress_off() const = 0;
};

}  // namespace oyat::core
