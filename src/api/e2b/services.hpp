#pragma once

#include "api/e2b/settings.hpp"
#include "auth/keys.hpp"
#include "base/clock.hpp"
#include "core/event.hpp"
#include "core/sandbox.hpp"
#include "core/snapshots.hpp"
#include "core/templates.hpp"
#include "secrets/vault.hpp"

namespace oyat::e2b {

// The parts of the house that this front translates for. All outlive it.
struct Services {
    core::Sandboxes& sandboxes;
    core::Snapshots& snapshots;
    core::Templates& templates;
    core::EventBus& events;
    auth::Keys& keys;
    const Clock& clock;
    Settings settings;
    secrets::Vault* vault = nullptr;  // null: this server keeps no secrets
};

}  // namespace oyat::e2b
