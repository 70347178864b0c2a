#pragma once

#include <deque>

#include "core/agent_channel.hpp"
#include "keeperlink/open_stream.hpp"

namespace oyat::keeperlink {

// A process on the other side of a link.
class RemoteProcess final : public core::AgentProcess {
public:
    // Opens the stream of a Spawn or Attach and returns once the program runs.
    static Task<std::unique_ptr<core::AgentProcess>> open(std::shared_ptr<Link> link, wire::Request request);

    ~RemoteProcess() override;

    [[nodiscard]] std::uint32_t pid() const override { return started_.pid; }
    [[nodiscard]] WallTime started() const override;
    [[nodiscard]] std::uint64_t dropped_before() const override { return started_.dropped_out; }
    Task<std::optional<std::variant<core::Output, core::ExitReport>>> next() override;
    [[nodiscard]] Unacknowledged unacknowledged() const override;
    Task<> write_input(std::string bytes) override;
    Task<> close_input() override;

private:
    RemoteProcess(OpenStream stream, wire::ChannelId input) : stream_{std::move(stream)}, input_{input} {}

    void acknowledge();

    OpenStream stream_;
    wire::ChannelId input_;
    wire::Started started_;
    std::size_t owed_ = 0;  // bytes handed out and not acknowledged, of events and output
    Unacknowledged owed_output_;
    Unacknowledged late_output_;  // acknowledged by us, but the credit may not have gone out yet
    bool exited_ = false;
};

}  // namespace oyat::keeperlink
