#pragma once

#include <memory>
#include <string>

#include "core/agent_channel.hpp"

namespace oyat::core {

// The way to a sandbox's agent as it is at the moment: the channel changes when the agent is joined again,
// and there is none while it is lost and after the end. Shared by the sandbox and its processes, which a
// client may hold longer.
class AgentDoor {
public:
    // Kept by the caller for one call, so that it outlives a change. Throws Error{unavailable}.
    [[nodiscard]] std::shared_ptr<AgentChannel> channel() const {
        if (!channel_) throw Error{Errc::unavailable, Fault::agent, why_};
        return channel_;
    }
    void open(std::shared_ptr<AgentChannel> channel) { channel_ = std::move(channel); }
    // Returns what was there, to be closed.
    std::shared_ptr<AgentChannel> shut(std::string why) {
        why_ = std::move(why);
        return std::exchange(channel_, nullptr);
    }
    [[nodiscard]] bool is_open() const { return channel_ != nullptr; }

private:
    std::shared_ptr<AgentChannel> channel_;
    std::string why_ = "the sandbox's agent has not been reached yet";
};

}  // namespace oyat::core
