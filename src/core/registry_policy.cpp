#include <utility>

#include "base/throwing.hpp"
#include "core/json_text.hpp"
#include "core/lifecycle.hpp"
#include "core/record_fields.hpp"
#include "core/registry.hpp"
#include "io/task_group.hpp"

// Changes of policy while sandboxes live.
namespace oyat::core {
namespace {

// Holds the sandbox for as long as it takes.
Task<> follow_policy(std::shared_ptr<LiveSandbox> sandbox) {
    co_await sandbox->follow_policy();
}

}  // namespace

PolicyPtr Registry::policy(const std::string& id, const std::string& tenant) const {
    return live(id, tenant)->policy();
}

Task<PolicyChange> Registry::set_policy(std::string id, PolicyOrder order, Principal who) {
    const Live sandbox = live(id, who.tenant);
    policy::DocumentPtr read;
    if (order.document) read = or_throw(deps_.policies.read(*std::move(order.document)));
    co_return co_await sandbox->change_policy(std::move(read), std::move(order), std::move(who));
}

Task<PolicyChange> Registry::set_policy_above(policy::Layer layer, std::string key,
                                              std::optional<boost::json::object> document, Principal who) {
    policy::DocumentPtr read;
    if (document) read = or_throw(deps_.policies.read(*std::move(document)));
    Event event{.type = "policy.changed", .tenant = who.tenant};
    event.fields["layer"] = to_string(layer);
    event.fields["of"] = json_text(key);
    event.fields["digest"] = digest_of(read);
    if (read) event.fields["preset"] = json_text(read->preset);
    add_who(event, who);
    deps_.events.emit(std::move(event));
    co_await deps_.policies.keep(layer, key, std::move(read));
    const std::size_t cut = co_await renew_policies([&](const SandboxRecord& record) {
        return key == (layer == policy::Layer::tenant ? record.tenant : record.template_digest);
    });
    co_return PolicyChange{.cut = cut};
}

Task<> Registry::set_operator_policy(OperatorPolicy operators) {
    deps_.policies.set_operator(std::move(operators));
    Event event{.type = "policy.changed", .by = Witness::host};
    event.fields["layer"] = to_string(policy::Layer::server);
    event.fields["digest"] = digest_of(deps_.policies.of_operator().document);
    event.fields["preset"] = json_text(deps_.policies.of_operator().document->preset);
    // What an operator narrows is in force also when the record is full.
    emit_or_log(deps_.events, std::move(event));
    co_await renew_policies([](const SandboxRecord&) { return true; });
}

// All are in force before the first is saved: a slow disk must not keep one open.
Task<std::size_t> Registry::renew_policies(std::function<bool(const SandboxRecord&)> concerned) {
    std::vector<Live> renewed;
    std::size_t cut = 0;
    for (const auto& [id, sandbox] : live_) {
        if (is_over(sandbox->record().state) || !concerned(sandbox->record())) continue;
        cut += sandbox->renew_policy();
        renewed.push_back(sandbox);
    }
    for (const Live& sandbox : renewed) co_await sandbox->save();
    TaskGroup follow{deps_.executor};  // one that is slow does not keep the others
    for (const Live& sandbox : renewed) follow.spawn(follow_policy(sandbox));
    co_await follow.wait_idle();
    co_return cut;
}

}  // namespace oyat::core
