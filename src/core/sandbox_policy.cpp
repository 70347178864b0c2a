#include "core/sandbox_policy.hpp"

namespace oyat::core {
namespace {

std::shared_ptr<const policy::Document> offline() {
    static const auto document = [] {
        policy::Document nothing;
        nothing.rules.push_back({.id = "offline", .action = policy::Action::deny});
        return std::make_shared<const policy::Document>(std::move(nothing));
    }();
    return document;
}

}  // namespace

PolicyPtr policy_of(const SandboxRecord& record, std::vector<policy::Interception> interceptions) {
    auto policy = std::make_shared<policy::Policy>();
    policy->interceptions = std::move(interceptions);
    if (!record.internet) policy->layers.push_back({policy::Layer::sandbox, offline()});
    return policy;
}

}  // namespace oyat::core
