#pragma once

#include <boost/json/object.hpp>

#include "api/native/body.hpp"
#include "secrets/secrets.hpp"

namespace oyat::native {

[[nodiscard]] boost::json::object secret_json(const secrets::Secret& secret);  // never its value
[[nodiscard]] boost::json::object binding_json(const secrets::Secrets::Shown& bound);

// "secrets": [binding...] and "identities": {name: audience} of a create or bind.
[[nodiscard]] core::SecretPlan plan_of(Body& body);

}  // namespace oyat::native
