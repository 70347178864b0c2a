#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "wire/agent_messages.hpp"
#include "wire/frame.hpp"

namespace oyat::microvm {

// A connection to the agent of a machine, for the few words that belong to its start. It blocks: for a child
// process. What the agent says is the guest's to choose.
class AgentLine {
public:
    // Connects to the socket `door`. While something is waited for, `alive` is asked now and then, and throws
    // when there is nothing more to wait for. Throws `deadline` when any one answer takes longer than
    // `patience`.
    AgentLine(const std::string& door, Millis patience, std::function<void()> alive);

    // Knocks until the agent says hello to us, and not to somebody who was there before.
    wire::Hello greet();

    struct Answer {
        wire::Status status;
        std::vector<std::string> events;
        std::string data;
    };
    // After the greeting. Answers are kept whole: only for requests that have short ones.
    Answer ask(const wire::Request& request);

private:
    // Nothing when it does not come within the time.
    std::optional<wire::Frame> next(Millis wait);
    void send(wire::FrameKind kind, std::uint32_t stream, std::string_view payload);

    Fd socket_;
    Millis patience_;
    std::function<void()> alive_;
    wire::FrameParser parser_;
    std::uint32_t last_stream_ = 0;
};

// Gives a copy of a saved machine a life of its own: random numbers, clock, names and generation are the
// sandbox's before anything else happens in it.
void renew(AgentLine& agent, std::uint64_t generation, const std::string& id);

}  // namespace oyat::microvm
