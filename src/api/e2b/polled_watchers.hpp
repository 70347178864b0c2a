#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/sandbox.hpp"
#include "io/task_group.hpp"

namespace oyat::e2b {

// Watches whose changes wait here until the client asks for them. Bounded: so many for a sandbox, so many
// changes for each. They end with the sandbox's run; a client that asks for one later hears that there is
// none.
class PolledWatchers {
public:
    static constexpr std::size_t kMostOfASandbox = 128;
    static constexpr std::size_t kMostChanges = 16'384;
    static constexpr std::size_t kMostBytes = 4 * 1024 * 1024;  // of one watcher's changes

    PolledWatchers();
    ~PolledWatchers();

    // Returns the id. Throws Error{exhausted} at the bound.
    std::string add(Executor executor, std::shared_ptr<core::Sandbox> sandbox,
                    std::unique_ptr<core::FileWatch> watch);
    // What happened since the last call. Throws not_found, or once Error{exhausted} when changes were lost.
    [[nodiscard]] std::vector<core::FileChange> take(const std::string& sandbox, const std::string& id);
    void remove(const std::string& sandbox, const std::string& id);  // throws not_found

    Task<> close();

private:
    struct Watcher;
    using OfSandbox = std::map<std::string, std::shared_ptr<Watcher>>;

    Task<> follow(std::shared_ptr<core::Sandbox> sandbox, std::shared_ptr<Watcher> watcher, std::string id);
    Watcher& find(const std::string& sandbox, const std::string& id);

    std::map<std::string, OfSandbox> watchers_;
    std::unique_ptr<TaskGroup> tasks_;  // made on the first use: only then is there a loop to run on
};

}  // namespace oyat::e2b
