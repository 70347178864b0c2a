#include "api/native/secret_json.hpp"

#include <boost/json/value.hpp>

#include "base/clock.hpp"
#include "base/throwing.hpp"
#include "core/json_text.hpp"

namespace oyat::native {

boost::json::object secret_json(const secrets::Secret& secret) {
    boost::json::object shown{{"id", secret.id},
                              {"name", secret.name},
                              {"version", secret.current().number},
                              {"metadata", core::json_texts(secret.metadata)},
                              {"description", core::json_text(secret.description)},
                              {"hosts", core::json_texts(secret.hosts)},
                              {"created", to_rfc3339(secret.created)},
                              {"updated", to_rfc3339(secret.updated)},
                              {"expires", nullptr},
                              {"revoked", secret.revoked}};
    if (secret.expires) shown["expires"] = to_rfc3339(*secret.expires);
    return shown;
}

boost::json::object binding_json(const secrets::Secrets::Shown& bound) {
    boost::json::object shown = core::to_json(bound.binding);
    shown["id"] = bound.id;
    shown["uses"] = bound.uses;
    return shown;
}

core::SecretPlan plan_of(Body& body) {
    core::SecretPlan plan;
    for (const boost::json::object& each : body.objects("secrets")) {
        plan.bindings.push_back(or_throw(core::secret_binding_from_json(each)));
    }
    for (auto& [name, audience] : body.map("identities")) plan.identities[name] = {.audience = audience};
    return plan;
}

}  // namespace oyat::native
