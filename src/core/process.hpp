#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/agent_channel.hpp"
#include "core/principal.hpp"

namespace oyat::core {

struct RunRequest {
    std::vector<std::string> argv;
    std::map<std::string, std::string> env;
    std::map<std::string, std::string>
        forced_env;  // set by the front end; a client's env may not override it
    std::string cwd;
    std::string user;
    std::optional<TermSize> pty;
    bool stdin_open = false;
    std::optional<Millis> wall;  // the process tree ends then, timed_out
    std::string tag;
};

// How a process ended, with what the host knows about why.
struct ProcessEnd {
    int exit_code = 0;  // -1 when killed by a signal
    int signal = 0;
    bool timed_out = false;
    bool oom = false;            // the kernel killed a process of the sandbox for memory while it ran
    std::string limit;           // "memory", "processes", "disk", "wall": the limit that was hit, or ""
    std::optional<Fault> fault;  // none for exit 0
    std::string event_id;        // of command.exited
};

// What a subscriber sees. Keep-alives are made by the front ends.
using ProcessEvent = std::variant<Output, ProcessEnd>;

// One client's view of a process. Output comes from the moment of subscribing; the first subscription after a
// restart of oyatd first gets what nobody had acknowledged.
class Subscription {
public:
    virtual ~Subscription() = default;
    // The next event; after ProcessEnd nothing. Throws Error{unavailable} when the sandbox was paused, killed
    // or ended, Error{exhausted} when this subscriber was too slow beside a faster one.
    virtual Task<std::optional<ProcessEvent>> next() = 0;
};

class Process {
public:
    virtual ~Process() = default;
    [[nodiscard]] virtual std::uint32_t pid() const = 0;
    [[nodiscard]] virtual const RunRequest& request() const = 0;
    [[nodiscard]] virtual WallTime started() const = 0;
    [[nodiscard]] virtual std::optional<ProcessEnd> end() const = 0;

    [[nodiscard]] virtual std::unique_ptr<Subscription> subscribe() = 0;
    virtual Task<> write_input(
        std::string bytes) = 0;        // failed_precondition: no input was opened, or it is closed
    virtual Task<> close_input() = 0;  // twice is fine
    virtual Task<> resize(TermSize size) = 0;
    virtual Task<> signal(int signal) = 0;  // the whole tree for SIGKILL and SIGTERM
};

// The processes of one sandbox that were started through any API. An ended one stays for 30 s.
class Processes {
public:
    virtual ~Processes() = default;
    // Asks policy, records, starts. Returns when the program runs.
    virtual Task<std::shared_ptr<Process>> start(RunRequest request, Principal who) = 0;
    [[nodiscard]] virtual std::shared_ptr<Process> find(std::uint32_t pid) const = 0;  // null: none
    [[nodiscard]] virtual std::shared_ptr<Process> find_tag(const std::string& tag) const = 0;
    [[nodiscard]] virtual std::vector<std::shared_ptr<Process>> alive() const = 0;
};

}  // namespace oyat::core
