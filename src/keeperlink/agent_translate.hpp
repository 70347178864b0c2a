#pragma once

#include "core/agent_channel.hpp"
#include "wire/agent_messages.hpp"

// Between core's words and the agent's messages. What comes from the agent is brought into bounds here.
namespace oyat::keeperlink {

[[nodiscard]] Error to_error(const wire::Status& status);
[[nodiscard]] wire::Spawn to_wire(core::SpawnOrder order);
[[nodiscard]] wire::Configure to_wire(core::AgentSetup setup);

[[nodiscard]] core::FileEntry to_core(wire::FileEntry entry);
[[nodiscard]] core::FileChange to_core(wire::WatchChange change);
[[nodiscard]] core::AgentProcessInfo to_core(wire::ProcessInfo info);
[[nodiscard]] core::ExitReport to_core(const wire::Exited& exited);

// Of milliseconds that an agent claims: what no clock of this century shows reads as the epoch.
[[nodiscard]] WallTime plausible_time(std::int64_t millis);

}  // namespace oyat::keeperlink
