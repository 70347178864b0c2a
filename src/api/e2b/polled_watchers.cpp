#include "api/e2b/polled_watchers.hpp"

#include "base/id.hpp"
#include "io/gate.hpp"
#include "io/race.hpp"

namespace oyat::e2b {
namespace {

std::size_t size_of(const core::FileChange& change) {
    std::size_t size = sizeof change + change.name.size();
    if (!change.entry) return size;
    size += change.entry->path.size() + change.entry->link_target.size();
    for (const auto& [key, value] : change.entry->metadata) size += key.size() + value.size();
    return size;
}

Task<> fill(core::FileWatch& watch, auto keep) {
    while (true) keep(co_await watch.next());
}

}  // namespace

// Shared by the table and the task that fills it: either may be the last to leave.
struct PolledWatchers::Watcher {
    std::unique_ptr<core::FileWatch> watch;
    std::deque<core::FileChange> changes;
    std::size_t bytes = 0;  // about as much as they hold
    bool lost_some = false;
    Gate removed;

    std::vector<core::FileChange> drain() {
        std::vector<core::FileChange> drained{std::make_move_iterator(changes.begin()),
                                              std::make_move_iterator(changes.end())};
        changes.clear();
        bytes = 0;
        return drained;
    }

    void keep(std::vector<core::FileChange> more) {
        for (core::FileChange& change : more) {
            bytes += size_of(change);
            if (change.kind == core::ChangeKind::overflow || changes.size() >= kMostChanges ||
                bytes > kMostBytes) {
                lost_some = true;
            } else {
                changes.push_back(std::move(change));
            }
        }
    }
};

PolledWatchers::PolledWatchers() = default;
PolledWatchers::~PolledWatchers() = default;

std::string PolledWatchers::add(Executor executor, std::shared_ptr<core::Sandbox> sandbox,
                                std::unique_ptr<core::FileWatch> watch) {
    if (tasks_ == nullptr) tasks_ = std::make_unique<TaskGroup>(std::move(executor));
    OfSandbox& watchers = watchers_[sandbox->record().id];
    if (watchers.size() >= kMostOfASandbox) {
        throw Error{Errc::exhausted, "a sandbox has at most 128 watchers: remove some"};
    }
    const std::string id = "w" + random_hex(8);
    auto watcher = std::make_shared<Watcher>();
    watcher->watch = std::move(watch);
    watchers.emplace(id, watcher);
    tasks_->spawn(follow(std::move(sandbox), std::move(watcher), id));
    return id;
}

Task<> PolledWatchers::follow(std::shared_ptr<core::Sandbox> sandbox, std::shared_ptr<Watcher> watcher,
                              std::string id) {
    const std::string sandbox_id = sandbox->record().id;
    try {
        co_await race(
            fill(*watcher->watch,
                 [&watcher](std::vector<core::FileChange> more) { watcher->keep(std::move(more)); }),
            watcher->removed.pass(), sandbox->until_not_running());
    } catch (const Error& error) {
        if (error.code() != Errc::unavailable) throw;  // the watch ended with its sandbox
    }
    const auto of_sandbox = watchers_.find(sandbox_id);
    if (of_sandbox == watchers_.end()) co_return;
    of_sandbox->second.erase(id);
    if (of_sandbox->second.empty()) watchers_.erase(of_sandbox);
}

PolledWatchers::Watcher& PolledWatchers::find(const std::string& sandbox, const std::string& id) {
    if (const auto of_sandbox = watchers_.find(sandbox); of_sandbox != watchers_.end()) {
        if (const auto found = of_sandbox->second.find(id); found != of_sandbox->second.end())
            return *found->second;
    }
    throw Error{Errc::not_found, "watcher with id " + id.substr(0, 64) + " not found"};
}

std::vector<core::FileChange> PolledWatchers::take(const std::string& sandbox, const std::string& id) {
    Watcher& watcher = find(sandbox, id);
    std::vector<core::FileChange> changes = watcher.drain();
    if (std::exchange(watcher.lost_some, false)) {
        throw Error{Errc::exhausted, "too many changes since the last call: some were not kept"};
    }
    return changes;
}

void PolledWatchers::remove(const std::string& sandbox, const std::string& id) {
    find(sandbox, id).removed.open();
    watchers_.at(sandbox).erase(id);
}

Task<> PolledWatchers::close() {
    if (tasks_ != nullptr) co_await tasks_->close();
    watchers_.clear();
}

}  // namespace oyat::e2b
