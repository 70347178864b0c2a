#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <memory>
#include <vector>

#include "api/native/body.hpp"
#include "core/event.hpp"
#include "policy/policy.hpp"

// Policies as this front shows and reads them. All pure.
namespace oyat::native {

// {"generation":7,"layers":[{"layer":"server","document":{...}},...]}
[[nodiscard]] boost::json::object policy_json(const policy::Policy& policy);

// The sandbox's own document as it was written; one that says nothing more than those above when it has none.
[[nodiscard]] boost::json::object own_document(const policy::Policy& policy);

// Members `insert` ({"rule":{...},"before":"id"}), `replace` ({"rule":{...}}) and `remove` (an id) of a body,
// in this order. Throws not_found for a rule that is not there.
void change_rules(boost::json::object& document, Body& body);

// What would become of {"host", "port", "method", "path"}: verdict, rule, layer, strength, generation.
// `address` may stand in place of the host.
[[nodiscard]] boost::json::object explain_json(const policy::Policy& policy, Body& connect, WallTime now);

// What was refused, from the events of a sandbox, oldest first: one entry for each destination and reason.
[[nodiscard]] boost::json::array denied_json(const std::vector<std::shared_ptr<const core::Event>>& events);

}  // namespace oyat::native
