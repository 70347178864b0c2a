#include "daemon/recovery.hpp"

#include "base/log.hpp"
#include "io/timer.hpp"

namespace oyat::daemon {

Task<core::KeeperFacts> wait_for_keeper(core::Keeper& keeper) {
    constexpr int kTries = 12;  // each waits up to 5 s
    for (int tries = 1;; ++tries) {
        try {
            co_return co_await keeper.info();
        } catch (const Error& error) {
            if (error.code() != Errc::unavailable || tries == kTries) throw;
            log::warn("waiting for the keeper", {{"why", error.what()}});
        }
    }
}

Task<> reopen_logs(audit::Recorder& recorder, core::Store& store) {
    for (const core::SandboxRecord& record : co_await store.load()) {
        if (record.state == core::SandboxState::ended) {
            co_await recorder.finish(record.id);
        } else {
            co_await recorder.prepare(record.id);
        }
    }
}

void emit_server_event(core::EventBus& events, std::string_view type, boost::json::object fields) {
    core::Event event;
    event.type = type;
    event.fields = std::move(fields);
    events.emit(std::move(event));
}

}  // namespace oyat::daemon
