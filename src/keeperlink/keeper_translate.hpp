#pragma once

#include "core/keeper.hpp"
#include "wire/keeper_messages.hpp"

// Between core's words and the keeper's messages.
namespace oyat::keeperlink {

[[nodiscard]] wire::CreateBox to_wire(core::BoxOrder order);
[[nodiscard]] core::BoxFacts to_core(wire::Box box);
[[nodiscard]] std::vector<core::Phase> to_core(std::vector<wire::Phase> phases);
[[nodiscard]] core::BoxUsage to_core(const wire::BoxStats& stats);
[[nodiscard]] core::TemplateFacts to_core(wire::TemplateInfo info);
[[nodiscard]] core::KeeperFacts to_core(wire::KeeperInfo info);
[[nodiscard]] core::SnapshotFacts to_core(wire::SnapshotInfo info);
[[nodiscard]] wire::PullBrake to_wire(core::BrakeOrder order);
[[nodiscard]] core::BrakeFacts to_core(wire::BrakeFacts facts);
[[nodiscard]] core::KeeperNotice to_core(wire::KeeperEvent event);

// The error of a reply whose code is not 0.
[[nodiscard]] Error to_error(const wire::KeeperReply& reply);

}  // namespace oyat::keeperlink
