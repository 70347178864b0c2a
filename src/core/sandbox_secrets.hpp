#pragma once

#include <string>

#include "core/egress_control.hpp"
#include "core/sandbox_record.hpp"
#include "core/secrets_control.hpp"

namespace oyat::core {

// Whether a plan could be put in force on this server at all; throws when not. `control` may be null.
void check_secrets(const SecretsControl* control, const std::string& tenant, const SecretPlan& plan);

// Throws Error{failed_precondition} when the policy forbids to read what goes to a host that a secret is
// bound to: the broker would never see the requests.
void check_readable(const policy::Policy& policy, const SecretPlan& plan);

// Puts a proxy into a record, its password locked; and the proxy as connections need it. A password that
// opens no more is left out: the proxy then refuses, and nothing goes another way.
void keep_proxy(const SecretsControl* control, SandboxRecord& record, std::optional<policy::Via> via);
[[nodiscard]] std::optional<policy::Via> proxy_of(const SecretsControl* control, const SandboxRecord& record);

}  // namespace oyat::core
