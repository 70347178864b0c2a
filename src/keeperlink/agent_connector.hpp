#pragma once

#include <memory>

#include "core/agent_channel.hpp"

namespace oyat::keeperlink {

// Makes agent channels out of the descriptors that the keeper hands over. Belongs to the executor's loop.
[[nodiscard]] std::unique_ptr<core::AgentConnector> make_agent_connector(Executor executor);

}  // namespace oyat::keeperlink
