#include "audit/recorder.hpp"

// A record that keeps nothing. Linked in place of audit's, it makes oyatd-unrecorded, which only the benchmark runs:
// what the record costs is the difference to oyatd.
namespace oyat::audit {

Recorder::Recorder(Executor executor, const Clock& clock, core::Keeper& keeper, RecorderOptions options)
    : executor_{executor},
      clock_{clock},
      keeper_{keeper},
      options_{std::move(options)},
      sync_timer_{executor, [] {}},
      noise_timer_{executor, [] {}},
      tasks_{executor} {}

Recorder::~Recorder() = default;

Task<> Recorder::open() {
    co_return;
}

void Recorder::keep_house() {}

void Recorder::append(const core::Event&) {}

Task<> Recorder::prepare(std::string) {
    co_return;
}

Task<> Recorder::finish(std::string) {
    co_return;
}

Task<> Recorder::close() {
    co_return;
}

}  // namespace oyat::audit
