#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/secret_binding.hpp"
#include "secrets/broker.hpp"

namespace oyat::secrets {

// What one sandbox holds: its bindings as they are kept in the store, and the broker that they are in force
// in.
class Holding {
public:
    struct Bound {
        std::string id;
        std::shared_ptr<const Binding> binding;
    };

    Holding(std::string tenant, std::string seed, std::unique_ptr<const Values> values, const Clock& clock)
        : tenant_{std::move(tenant)}, seed_{std::move(seed)}, broker_{std::move(values), clock} {}

    [[nodiscard]] const std::string& tenant() const { return tenant_; }
    [[nodiscard]] const std::vector<Bound>& bound() const { return bound_; }
    [[nodiscard]] std::map<std::string, core::IdentityToken>& identities() { return identities_; }
    [[nodiscard]] Broker& broker() { return broker_; }
    [[nodiscard]] const Broker& broker() const { return broker_; }

    using Variables = std::map<std::string, std::string>;
    // Puts a binding in force, under a new id unless it had one; adds its variables.
    void add(std::shared_ptr<const Binding> binding, Variables& variables, std::string id = {});
    [[nodiscard]] bool remove(const std::string& id);
    [[nodiscard]] Variables add_command(const std::string& command, const std::vector<std::string>& argv);

    // Why a new binding can't stand beside those that are here, or "". Those of the group `leaving` go.
    [[nodiscard]] std::string objection(const Binding& added, const std::string& leaving = {}) const;
    // Of the bindings of a group; none for "".
    [[nodiscard]] std::vector<std::string> ids_of(const std::string& group) const;

    [[nodiscard]] std::string to_text() const;  // for the store
    // Reads what to_text() wrote into an empty one.
    [[nodiscard]] Result<void> restore(const boost::json::object& json);

private:
    [[nodiscard]] std::string placeholder(const Binding& binding, const std::string& command) const;

    std::string tenant_;
    std::string seed_;  // what its placeholders are made of
    std::uint64_t next_ = 1;
    std::vector<Bound> bound_;
    std::map<std::string, core::IdentityToken> identities_;
    Broker broker_;
};

}  // namespace oyat::secrets
