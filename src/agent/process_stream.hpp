#pragma once

#include "agent/process.hpp"
#include "agent/stream.hpp"

namespace oyat::agent {

// The stream of a Spawn or Attach. After END it stays to hear what the host acknowledges; until then the
// process is not forgotten.
class ProcessStream final : public Stream {
public:
    ProcessStream(Connection& connection, std::uint32_t id, Process& process)
        : Stream{connection, id}, process_{&process} {}
    ~ProcessStream() override;

    void data(wire::ChannelId channel, std::string_view bytes) override;
    void eof(wire::ChannelId channel) override;
    void credited(std::uint32_t bytes) override;
    void cancelled() override;
    void writable() override;

    // From the process.
    void send_end(const Status& status) { end_and_linger(status); }
    void taken_over();
    void forgotten();

private:
    Process* process_;  // null once it is somebody else's or gone
};

}  // namespace oyat::agent
