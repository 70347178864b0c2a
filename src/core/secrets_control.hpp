#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/principal.hpp"
#include "core/secret_binding.hpp"
#include "io/task.hpp"
#include "policy/policy.hpp"

namespace oyat::core {

// Whose bindings.
struct SecretHolder {
    std::string sandbox;
    std::string tenant;
};

// What core asks of the broker of secrets: placeholders for what sandboxes may use without having it.
class SecretsControl {
public:
    using Variables = std::map<std::string, std::string>;

    virtual ~SecretsControl() = default;

    // Before anything is made: throws Error{invalid_argument, not_found, failed_precondition} for a plan that
    // is wrong or could not be enforced.
    virtual void check(const std::string& tenant, const SecretPlan& plan) const = 0;
    // Keeps the plan and puts it in force, beside what the sandbox has already. Returns the variables with
    // placeholders that belong into its environment.
    virtual Task<Variables> bind(SecretHolder holder, SecretPlan plan, Principal who) = 0;
    // Puts the plan, whose bindings are all of this group, in the place of those that the group has. Refused
    // like bind(), and then nothing has changed. Identity tokens that the sandbox has stay.
    virtual Task<> replace(SecretHolder holder, std::string group, SecretPlan plan, Principal who) = 0;
    // As they were asked for.
    [[nodiscard]] virtual std::vector<SecretBinding> group(const std::string& sandbox,
                                                           const std::string& group) const = 0;
    // At once and for good; for the end of a sandbox.
    virtual Task<> unbind(std::string sandbox) = 0;
    // One of its bindings. Throws not_found.
    virtual Task<> remove_binding(std::string sandbox, std::string binding, Principal who) = 0;
    // After a restart: all that is kept for other sandboxes is let go.
    virtual Task<> keep_only(std::set<std::string> sandboxes) = 0;

    // The variables with placeholders made for one command, which live until it has ended. The same command
    // gets the same again, so this is also how one that is found running is taken up.
    [[nodiscard]] virtual Variables for_command(const std::string& sandbox, const std::string& command,
                                                const std::vector<std::string>& argv) = 0;
    virtual void command_ended(const std::string& sandbox, const std::string& command) = 0;

    // While packages are being installed only those bindings are in force that were made for that.
    virtual void set_installing(const std::string& sandbox, bool installing) = 0;

    // Text that stands in a sandbox's record: locked, so that it opens for this sandbox and with the server's
    // key alone.
    [[nodiscard]] virtual std::string lock(const std::string& sandbox, std::string_view text) const = 0;
    [[nodiscard]] virtual Result<std::string> unlock(const std::string& sandbox,
                                                     std::string_view locked) const = 0;

    // Whose requests must be read for the sandbox's bindings to work.
    [[nodiscard]] virtual std::vector<policy::Interception> interceptions(
        const std::string& sandbox) const = 0;
};

}  // namespace oyat::core
