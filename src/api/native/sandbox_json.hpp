#pragma once

#include <boost/json/object.hpp>

#include "core/keeper.hpp"
#include "core/sandbox.hpp"
#include "core/snapshots.hpp"
#include "core/templates.hpp"

namespace oyat::native {

// What this protocol shows of a sandbox: everything but its token and the values of its variables.
[[nodiscard]] boost::json::object sandbox_json(const core::SandboxRecord& record);
[[nodiscard]] boost::json::object snapshot_json(const core::SnapshotRecord& record);
[[nodiscard]] boost::json::object packages_json(const core::SandboxPackages& found);
[[nodiscard]] boost::json::object usage_json(const core::BoxUsage& usage);
[[nodiscard]] boost::json::object template_json(const core::TemplateFacts& facts);

}  // namespace oyat::native
