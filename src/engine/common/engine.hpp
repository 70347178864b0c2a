#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "cgroup/group.hpp"
#include "engine/common/process.hpp"
#include "engine/common/work.hpp"
#include "layers/id_range.hpp"
#include "netns/netns.hpp"
#include "wire/keeper_messages.hpp"

namespace oyat::engine {

// Everything that a sandbox is made of, ready before its first process exists. The keeper owns all of it; an
// engine only joins it together.
struct Parts {
    std::string_view id;
    std::uint64_t generation = 0;
    std::string_view template_digest;
    wire::BoxLimits limits;
    layers::IdRange range;  // of host user ids that are this sandbox's own
    std::span<const int>
        lowers;    // read-only layers, newest first (O_PATH): the operator's, then the template's
    int box = -1;  // its writable part (layers::Store), its disk limit in force
    netns::Netns* network = nullptr;  // of the engine's shape; what of it the sandbox is to hold (the tap) is
                                      // taken out of it
    int listener = -1;  // a listening unix socket in a directory that only root sees, for the agent
    const cgroup::Group* group = nullptr;
    std::uint64_t open_files = 0;
    std::string_view extra_hosts;  // lines for /etc/hosts from the operator
    int memory = -1;               // a directory that checkpoint() wrote: go on from there. -1: start anew
};

// A sandbox that runs, as an engine needs to know it.
struct Running {
    std::string_view id;
    const Process& process;
    const cgroup::Group& group;
};

// What a sandbox may use and uses, for those inside to see.
struct Seen {
    const wire::BoxLimits& limits;
    const wire::BoxStats& stats;
    std::int64_t created_ms = 0;
};

// A kind of boundary. One object for the life of the keeper, which is single-threaded; after a restart of the
// keeper a new one is asked about sandboxes that an earlier one started, so whatever must be known of them is
// found by their id in files and in the kernel. Calls return within a few milliseconds; what takes longer is
// Work. All throw Error.
class Engine {
public:
    virtual ~Engine() = default;

    // What it is, what it can do, and why it is off where it is. May change while a probe runs.
    [[nodiscard]] virtual wire::EngineInfo info() const = 0;
    [[nodiscard]] virtual netns::Shape network() const noexcept = 0;

    // What its own processes take of a sandbox's control group, which therefore needs this on top of the
    // sandbox's limits.
    struct Overhead {
        std::uint64_t memory_bytes = 0;
        std::uint32_t processes = 0;
    };
    [[nodiscard]] virtual Overhead overhead() const noexcept { return {}; }

    // Starts a sandbox; done when its agent can be connected to. A work that is given up, or fails, leaves
    // nothing but what forget() removes.
    [[nodiscard]] virtual std::unique_ptr<Work<Process>> start(const Parts& parts) = 0;

    // A connected, non-blocking stream to the agent, which drops the connection that it had.
    [[nodiscard]] virtual Fd connect_agent(const Running& sandbox) = 0;

    // Writes the memory of a sandbox into `into`, an empty directory; its agent has been quiesced and no
    // connection to it is open. While everything stands still, `meanwhile` is called in the working child:
    // what it copies of the disk fits the memory. Synced when it is done (fsync of each file; the directory's
    // is the caller's). `goes_on`: the sandbox lives afterwards; otherwise its process is gone. Throws
    // `unimplemented` where the engine can't.
    enum class Afterwards : std::uint8_t { ends, goes_on };
    [[nodiscard]] virtual std::unique_ptr<Work<Nothing>> checkpoint(const Running& sandbox, int into,
                                                                    Afterwards afterwards,
                                                                    std::function<void()> meanwhile) = 0;

    // It has got an owner, with these limits: where on the machine it runs.
    virtual void settle(const Running& sandbox, const wire::BoxLimits& limits) = 0;
    // Other limits for one that has an owner, beyond its control group and disk. Throws `unimplemented` for
    // what can't be changed.
    virtual void set_limits(const Running& sandbox, const wire::BoxLimits& before,
                            const wire::BoxLimits& limits) = 0;

    // What programs inside are told of their machine, where its kernel does not tell by itself. `moving`: the
    // limits are those that were told before.
    enum class Told : std::uint8_t { all, moving };
    virtual void tell(const Running& sandbox, const Seen& seen, Told what) = 0;

    // A process that stands in the sandbox's network namespace (of a veth: in the outer one) for as long as
    // the sandbox lives. A keeper that was restarted finds the namespace by it.
    [[nodiscard]] virtual pid_t in_network(const Running& sandbox) const { return sandbox.process.pid; }

    // No sandbox will be made of the template any more: what was made to start such faster may go.
    virtual void template_gone(std::string_view /*digest*/) noexcept {}

    // One that an earlier keeper started is ours now: what that one was in the middle of is given up.
    virtual void adopted(const Running& /*sandbox*/) noexcept {}

    // Removes what the engine has left of a sandbox whose processes are gone, or of one that never came to
    // be. Nothing happens when there is nothing.
    virtual void forget(std::string_view id) noexcept = 0;
    // The ids for which forget() has something to do.
    [[nodiscard]] virtual std::vector<std::string> remembered() const = 0;
};

}  // namespace oyat::engine
