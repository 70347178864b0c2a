#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/secret_binding.hpp"
#include "rpc/message.hpp"

namespace oyat::e2b {

// `network.rules`: header fields that are set on requests to a host, outside the sandbox. Throws
// Error{invalid_argument} by the protocol's limits.
[[nodiscard]] std::vector<core::SecretBinding> read_header_rules(const rpc::Message& network);

// `iam.tokens`, which such fields may name.
[[nodiscard]] std::map<std::string, core::IdentityToken> read_identity_tokens(const rpc::Message& body);

// "Bearer ${e2b.secrets.key}" in our own writing, "Bearer {secret:key}".
[[nodiscard]] std::string format_of_template(std::string_view text);

}  // namespace oyat::e2b
