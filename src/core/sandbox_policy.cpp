#include "base/log.hpp"
#include "core/json_text.hpp"
#include "core/lifecycle.hpp"
#include "core/live_sandbox.hpp"
#include "core/record_fields.hpp"
#include "core/sandbox_secrets.hpp"
#include "core/trusted_authority.hpp"
#include "io/timer.hpp"
#include "policy/install_window.hpp"

// The way out of one sandbox while it lives.
namespace oyat::core {
namespace {

constexpr Millis kTrustLimit{10'000};

}  // namespace

PolicyPtr LiveSandbox::compose_policy() const {
    auto made = std::make_shared<policy::Policy>();
    made->generation = record_.policy_generation;
    made->via = proxy_of(deps_.secrets, record_);
    made->cut = record_.egress_off || egress_off_for_all_;
    if (deps_.secrets != nullptr) made->interceptions = deps_.secrets->interceptions(record_.id);
    made->layers = deps_.policies.layers_for(record_, own_policy_);
    if (record_.installing || !installing_.empty())
        made->install_window = policy::install_window(made->layers, *deps_.policies.of_operator().words);
    return made;
}

Task<PolicyChange> LiveSandbox::change_policy(policy::DocumentPtr document, PolicyOrder order,
                                              Principal who) {
    co_await settle();
    if (is_over(record_.state))
        throw Error{Errc::not_found, Fault::client, "sandbox " + record_.id + " not found"};
    if (order.if_match && *order.if_match != record_.policy_generation) {
        throw Error{Errc::failed_precondition, Fault::client,
                    "the policy of sandbox " + record_.id + " is at generation " +
                        std::to_string(record_.policy_generation) + ", not " +
                        std::to_string(*order.if_match)};
    }
    if (order.header_rules) {
        co_await replace_header_rules(*std::move(order.header_rules), who);
        if (is_over(record_.state))
            throw Error{Errc::not_found, Fault::client, "sandbox " + record_.id + " not found"};
    }
    Event event = sandbox_event(record_, "policy.changed");
    event.fields["layer"] = to_string(policy::Layer::sandbox);
    event.fields["generation"] = record_.policy_generation + 1;
    event.fields["digest"] = digest_of(document);
    if (document) event.fields["preset"] = json_text(document->preset);
    if (order.via) event.fields["via"] = json_text(order.via->host + ":" + std::to_string(order.via->port));
    add_who(event, who);
    deps_.events.emit(std::move(event));

    record_.policy = document ? document->source : std::string{};
    record_.internet = !document || document->preset != "offline";
    own_policy_ = std::move(document);
    if (order.proxy == PolicyOrder::Proxy::replace) keep_proxy(deps_.secrets, record_, std::move(order.via));
    const std::size_t cut = renew_policy();
    const PolicyChange change{.generation = record_.policy_generation, .cut = cut};
    co_await save();
    co_await follow_policy();
    co_return change;
}

Task<> LiveSandbox::trust_authority(std::shared_ptr<AgentChannel> agent) {
    if (!trusted_list_.empty() || !policy::may_read_requests(*policy_)) co_return;
    // What is in the way of it may have been put there by the sandbox.
    trusted_list_ =
        co_await with_timeout(kTrustLimit, "programs are made to trust the authority",
                              install_authority(*agent, deps_.egress.authority_pem(record_.tenant)));
}

Task<> LiveSandbox::try_to_trust(std::shared_ptr<AgentChannel> agent) {
    try {
        co_await trust_authority(std::move(agent));
    } catch (const Error& e) {
        if (e.code() == Errc::canceled) throw;
        log::warn("programs do not trust the authority", {{"sandbox", record_.id}, {"error", e.message()}});
    }
}

Task<> LiveSandbox::follow_policy() {
    const std::shared_ptr<AgentChannel> agent = agent_;
    if (!trusted_list_.empty() || !has_agent() || record_.state != SandboxState::running) co_return;
    co_await try_to_trust(agent);
    if (!trusted_list_.empty()) co_await configure(agent);
}

std::size_t LiveSandbox::renew_policy() {
    if (!record_.policy.empty()) own_policy_ = deps_.policies.read_kept(record_.policy);
    ++record_.policy_generation;
    const bool was_open = policy_->install_window.has_value();
    policy_ = compose_policy();
    policy_of_ = deps_.policies.revision();
    suspend_secrets();
    const std::size_t cut = deps_.egress.update(record_.id, policy_);
    note_install_window(was_open, cut);
    return cut;
}

}  // namespace oyat::core
