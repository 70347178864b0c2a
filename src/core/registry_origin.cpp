#include "core/registry.hpp"
#include "core/snapshot_name.hpp"

// What a sandbox is made of, and behind which wall.
namespace oyat::core {

Registry::Origin Registry::origin_of(const SnapshotRecord& record) {
    return {.template_name = record.name.empty() ? record.id : record.name + ":" + record.tag,
            .template_digest = record.template_digest,
            .engine = record.engine,
            .snapshot = record.id,
            .memory = record.memory,
            .parent = record.sandbox,
            .policy = record.policy,
            .limits = record.limits};
}

// A template or a snapshot, whichever has the name; a template comes first, "TENANT/NAME" is always a
// snapshot.
Task<Registry::Origin> Registry::origin_of(CreateRequest request, Principal who) {
    const std::string& reference = request.template_ref;
    const SnapshotRecord* snapshot = snapshots_.find(reference, who.tenant);
    if (snapshot != nullptr && !deps_.templates.knows(reference)) co_return origin_of(*snapshot);
    if (is_snapshot_id(std::string_view{reference}.substr(0, reference.find(':')))) {
        throw Error{Errc::not_found, Fault::client, "snapshot " + reference + " not found"};
    }
    const TemplateFacts image = co_await deps_.templates.resolve(reference);
    co_return Origin{.template_name = reference, .template_digest = image.digest};
}

// A snapshot is what its engine made of it: another one can't read it.
std::string Registry::engine_for(const CreateRequest& request, const Origin& origin) const {
    const std::string& asked = request.isolation.empty() ? deps_.config.default_engine : request.isolation;
    if (!origin.engine.empty() && !request.isolation.empty() && asked != "auto" && asked != origin.engine) {
        throw Error{
            Errc::failed_precondition, Fault::client,
            "snapshot " + origin.snapshot + " was made by the isolation " + origin.engine + ", not " + asked};
    }
    const std::string& least = deps_.config.minimum_boundary;
    const bool server_wants_more = strength(request.minimum_boundary) < strength(least);
    return engines_.choose({.engine = origin.engine.empty() ? asked : origin.engine,
                            .minimum_boundary = server_wants_more ? least : request.minimum_boundary,
                            .allow_emulated = deps_.config.allow_emulated});
}

}  // namespace oyat::core
