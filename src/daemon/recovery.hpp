#pragma once

#include <boost/json/object.hpp>
#include <string_view>

#include "audit/recorder.hpp"
#include "core/event.hpp"
#include "core/keeper.hpp"
#include "core/store.hpp"

namespace oyat::daemon {

// The keeper may be starting beside us. Throws Error when it does not come within a minute.
Task<core::KeeperFacts> wait_for_keeper(core::Keeper& keeper);

// Before anything is recorded: the logs of sandboxes that live, or died while we were away, go on where they
// ended, and those of sandboxes that had ended are sealed when that was not done.
Task<> reopen_logs(audit::Recorder& recorder, core::Store& store);

void emit_server_event(core::EventBus& events, std::string_view type, boost::json::object fields);

}  // namespace oyat::daemon
