#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "agent/connection.hpp"
#include "agent/file_streams.hpp"
#include "agent/host_link.hpp"
#include "agent/loop.hpp"
#include "agent/process_table.hpp"
#include "agent/settings.hpp"
#include "agent/stand_still.hpp"
#include "agent/users.hpp"
#include "base/fd.hpp"

namespace oyat::agent {

// The agent as a whole: what it holds, and which part answers which request.
class Agent final : public RequestHandler {
public:
    // Where the host comes in: one of these.
    struct WayIn {
        Fd listener;
        std::string connect;  // path of a socket
        Fd port;
    };
    Agent(WayIn way, Fd cgroup, std::uint64_t generation);

    [[noreturn]] void run() { loop_.run(); }

    std::unique_ptr<Stream> open(Connection& connection, std::uint32_t id, wire::Request request) override;

private:
    std::unique_ptr<Stream> open_process(Connection& connection, std::uint32_t id, wire::Spawn& spawn);
    // Ends the connection, or refuses and changes nothing.
    void quiesce(Connection& connection, std::uint32_t id, const wire::Quiesce& request);
    [[nodiscard]] Status stand_still(const wire::Quiesce& request);
    Answer<std::string> renew(const wire::Renew& request);
    std::unique_ptr<Stream> open_attach(Connection& connection, std::uint32_t id, std::uint32_t pid);
    // Nothing when the request is none of a file.
    std::optional<Answer<std::unique_ptr<Stream>>> open_file(Connection& connection, std::uint32_t id,
                                                             const wire::Request& request);
    // The event that a call is answered with.
    Answer<std::string> call(const wire::Request& request);
    Status configure(wire::Configure& configure);
    Status signal(const wire::Signal& request);
    Status release(const wire::Release& request);
    Status resize(const wire::Resize& request);

    Loop loop_;
    Settings settings_;
    Users users_;
    WatchCount watches_;
    ProcessTable processes_;
    StandStill stand_still_;
    HostLink host_;
};

}  // namespace oyat::agent
