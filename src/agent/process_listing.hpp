#pragma once

#include <sys/types.h>

#include <string>

#include "agent/process_table.hpp"
#include "agent/stream.hpp"

namespace oyat::agent {

// All processes, in the order of their numbers. Each event is made when there is credit for it: what
// thousands of listings would repeat of a thousand processes is not held in memory.
class ProcessListing final : public Stream {
public:
    ProcessListing(Connection& connection, std::uint32_t id, const ProcessTable& processes)
        : Stream{connection, id}, processes_{processes} {}

    void writable() override;

private:
    [[nodiscard]] std::string next_event();

    const ProcessTable& processes_;
    pid_t listed_ = 0;   // all up to this one are in events
    std::string ready_;  // waits for credit
};

}  // namespace oyat::agent
