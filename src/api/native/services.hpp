#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "auth/keys.hpp"
#include "base/clock.hpp"
#include "core/brakes.hpp"
#include "core/event.hpp"
#include "core/keeper.hpp"
#include "core/policies.hpp"
#include "core/sandbox.hpp"
#include "core/snapshots.hpp"
#include "core/templates.hpp"
#include "secrets/secrets.hpp"

namespace oyat::native {

struct Settings {
    std::string version;
    std::string domain;           // of ports, with its port unless that is 443; "" when there is none
    std::filesystem::path spool;  // directory for uploads of templates, which may be larger than memory
    // The tenant whose admins run the server: they may make keys for others and see all events.
    std::string operator_tenant = "default";
    std::vector<core::LimitFacts> more_limits;             // that the keeper does not know of
    std::function<std::string()> metrics;                  // Prometheus text
    std::function<std::vector<std::string>()> all_routes;  // of every front, "METHOD /pattern"
};

// The parts of the house that this front translates for. All outlive it.
struct Services {
    core::Sandboxes& sandboxes;
    core::Snapshots& snapshots;
    core::Brakes& brakes;
    core::Keeper& keeper;
    core::Templates& templates;
    const core::Policies& policies;
    core::EventBus& events;
    auth::Keys& keys;
    const Clock& clock;
    Settings settings;
    secrets::Vault* vault = nullptr;  // null, all three: this server keeps no secrets
    secrets::Secrets* secrets = nullptr;
    const secrets::Identities* identities = nullptr;
};

}  // namespace oyat::native
