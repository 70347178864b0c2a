#pragma once

#include <memory>
#include <string>

#include "core/keeper.hpp"

namespace oyat::keeperlink {

// The keeper behind the socket at `socket_path`. Connects in the background and again whenever the connection
// breaks, for ever; calls wait up to 5 s for it. Belongs to the executor's loop.
[[nodiscard]] std::unique_ptr<core::Keeper> connect_keeper(Executor executor, std::string socket_path);

}  // namespace oyat::keeperlink
