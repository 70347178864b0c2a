#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.hpp"
#include "wire/agent_messages.hpp"
#include "wire/frame.hpp"

namespace oyat::keeperlink {

// What a stream was opened for, which decides what may come back on it.
enum class StreamKind { call, process, read_file, write_file, listing, watch };

// What an agent may say on one stream, given what it has said and what it was lent. Pure; the agent is taken
// for hostile (threats D-21 to D-23, D-26). A refusal means that the whole connection is not to be listened
// to any more.
class StreamRules {
public:
    explicit StreamRules(StreamKind kind) : kind_{kind} {}

    [[nodiscard]] Result<void> data(wire::ChannelId channel, std::size_t bytes);
    [[nodiscard]] Result<void> event(std::string_view payload);
    [[nodiscard]] Result<void> eof(wire::ChannelId channel);
    [[nodiscard]] Result<void> credit(std::uint32_t bytes);
    [[nodiscard]] Result<void> end(const wire::Status& status) const;

    // Our side of the books.
    void lend(std::uint64_t bytes) { lent_ += bytes; }
    void sent(std::uint64_t bytes) { send_credit_ -= bytes; }
    [[nodiscard]] std::uint64_t send_credit() const { return send_credit_; }

private:
    Result<void> spend(std::size_t bytes);
    Result<void> process_event(std::string_view payload);

    StreamKind kind_;
    std::uint64_t lent_ = wire::kInitialWindow;         // what the agent may still send
    std::uint64_t send_credit_ = wire::kInitialWindow;  // what we may still send
    std::uint32_t events_ = 0;
    bool started_ = false;
    bool exited_ = false;
    bool plain_output_ = false;
    bool pty_output_ = false;
    std::uint8_t closed_channels_ = 0;  // one bit for each ChannelId
};

}  // namespace oyat::keeperlink
