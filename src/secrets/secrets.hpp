#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/secrets_control.hpp"
#include "io/task_group.hpp"
#include "masking/value.hpp"
#include "secrets/holding.hpp"
#include "secrets/identities.hpp"
#include "secrets/vault.hpp"

namespace oyat::secrets {

struct SecretsDeps {
    Executor executor;
    const Clock& clock;
    core::Store& store;
    core::EventBus& events;
    Vault& vault;
    Identities& identities;
    const Seal& seal;
};

// The broker of the whole server: which sandbox may use what, and the record of it. Lives on the loop.
class Secrets final : public core::SecretsControl, public masking::ValueSource {
public:
    explicit Secrets(SecretsDeps deps);
    ~Secrets() override;

    Task<> load();  // after the vault
    Task<> close();

    // --- for core
    void check(const std::string& tenant, const core::SecretPlan& plan) const override;
    Task<Variables> bind(core::SecretHolder holder, core::SecretPlan plan, core::Principal who) override;
    Task<> replace(core::SecretHolder holder, std::string group, core::SecretPlan plan,
                   core::Principal who) override;
    [[nodiscard]] std::vector<core::SecretBinding> group(const std::string& sandbox,
                                                         const std::string& group) const override;
    Task<> unbind(std::string sandbox) override;
    Task<> remove_binding(std::string sandbox, std::string binding, core::Principal who) override;
    Task<> keep_only(std::set<std::string> sandboxes) override;
    [[nodiscard]] Variables for_command(const std::string& sandbox, const std::string& command,
                                        const std::vector<std::string>& argv) override;
    void command_ended(const std::string& sandbox, const std::string& command) override;
    void set_installing(const std::string& sandbox, bool installing) override;
    [[nodiscard]] std::string lock(const std::string& sandbox, std::string_view text) const override;
    [[nodiscard]] Result<std::string> unlock(const std::string& sandbox,
                                             std::string_view locked) const override;
    [[nodiscard]] std::vector<policy::Interception> interceptions(const std::string& sandbox) const override;

    // --- for those who read requests
    // Null when the sandbox has no bindings. Valid until the next turn of the loop.
    [[nodiscard]] const Broker* broker(const std::string& sandbox) const;
    // Broker::prepare, with the outcome on the record. A sandbox without bindings gets its request back as it
    // was.
    [[nodiscard]] Prepared prepare(const std::string& sandbox, const RequestView& request);
    // A placeholder was found on a way where no request is: a body that passed (Broker::Scanner), a name that
    // was looked up. For the record.
    void leaked(const std::string& sandbox, const std::string& host, std::uint16_t port,
                const std::string& place);
    // A service sent the secret back, and it was taken out of the answer. For the record.
    void echoed(const std::string& sandbox, const std::string& secret, const std::string& host,
                std::uint16_t port);

    // --- for front ends
    struct Shown {
        std::string id;
        core::SecretBinding binding;
        std::uint64_t uses = 0;
    };
    [[nodiscard]] std::vector<Shown> bindings(const std::string& sandbox) const;

    // --- for the masker
    [[nodiscard]] std::vector<masking::Value> values_of(const std::string& sandbox) const override;
    [[nodiscard]] std::uint64_t generation() const override { return generation_ + deps_.vault.generation(); }

private:
    struct Parsed {
        std::vector<std::shared_ptr<const Binding>> bindings;
    };
    [[nodiscard]] Parsed parse(const std::string& tenant, const core::SecretPlan& plan) const;
    void check_secrets(const std::string& tenant, const Binding& binding) const;
    [[nodiscard]] std::unique_ptr<Holding> new_holding(std::string sandbox, std::string tenant,
                                                       std::string seed) const;
    // In the place of the bindings of `replaced`, "" for none.
    Task<Variables> put(core::SecretHolder holder, core::SecretPlan plan, std::string replaced,
                        core::Principal who);
    Task<> save(std::string sandbox);
    void record(const std::string& sandbox, const RequestView& request, const Prepared& prepared);

    SecretsDeps deps_;
    std::map<std::string, std::unique_ptr<Holding>> holdings_;  // by sandbox
    std::uint64_t generation_ = 1;
    TaskGroup tasks_;
};

}  // namespace oyat::secrets
