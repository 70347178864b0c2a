#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/secret_binding.hpp"
#include "rpc/message.hpp"
#include "secrets/vault.hpp"

namespace oyat::e2b {

// `network.rules`: header fields that are set on requests to a host, outside the sandbox. Throws
// Error{invalid_argument} by the protocol's limits.
[[nodiscard]] std::vector<core::SecretBinding> read_header_rules(const rpc::Message& network);

// A rule that names a secret which is not there is a mistake in the request: "not found" would be the
// sandbox or template, to clients.
void require_secrets(const secrets::Vault* vault, const std::string& tenant,
                     const std::vector<core::SecretBinding>& bindings);

// Such bindings in the protocol's form. A value that names no secret may be one itself: it is shown as "***".
[[nodiscard]] boost::json::object header_rules_view(const std::vector<core::SecretBinding>& bindings);

// `iam.tokens`, which such fields may name.
[[nodiscard]] std::map<std::string, core::IdentityToken> read_identity_tokens(const rpc::Message& body);

// "Bearer ${e2b.secrets.key}" in our own writing, "Bearer {secret:key}".
[[nodiscard]] std::string format_of_template(std::string_view text);

}  // namespace oyat::e2b
