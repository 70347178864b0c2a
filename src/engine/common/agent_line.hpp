#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "wire/agent_messages.hpp"
#include "wire/frame.hpp"

namespace oyat::engine {

// A connection to the agent of a sandbox, for the few words that belong to its start. It blocks: for a child
// process. What the agent says is the sandbox's to choose: it is bounded, in bytes and in time.
class AgentLine {
public:
    // Over a connected socket. While something is waited for, `alive` is asked now and then, and throws when
    // there is nothing more to wait for. Throws `deadline` when a greeting or an answer takes longer than
    // `patience`.
    AgentLine(Fd socket, Millis patience, std::function<void()> alive);

    // Knocks until the agent says hello to us, and not to somebody who was there before.
    wire::Hello greet();

    struct Answer {
        wire::Status status;
        std::vector<std::string> events;
        std::string data;
    };
    // After the greeting. Answers are kept whole, 1 MiB at the most: only for requests that have short ones.
    Answer ask(const wire::Request& request);

private:
    // Nothing when it does not come by then.
    std::optional<wire::Frame> next(MonoTime until);
    void send(wire::FrameKind kind, std::uint32_t stream, std::string_view payload);

    Fd socket_;
    Millis patience_;
    std::function<void()> alive_;
    wire::FrameParser parser_;
    std::uint32_t last_stream_ = 0;
};

// Gives what goes on from a saved memory a life of its own: random numbers, clock, names and generation are
// the sandbox's before anything else happens in it.
void renew(AgentLine& agent, std::uint64_t generation, const std::string& id);

}  // namespace oyat::engine
