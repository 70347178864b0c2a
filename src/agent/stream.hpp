#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/loop.hpp"
#include "agent/status.hpp"
#include "wire/codec.hpp"
#include "wire/frame.hpp"

namespace oyat::agent {

class Connection;

// The agent's end of one stream. Keeps the credit of both directions; what the stream is about is in its
// subclasses. Lives in its Connection until `end`, and dies with it otherwise.
class Stream : public Mortal {
public:
    Stream(Connection& connection, std::uint32_t id) : connection_{connection}, id_{id} {}
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    [[nodiscard]] std::uint32_t id() const { return id_; }

    // The host's DATA, within its credit. Whoever keeps the bytes says consumed() later; by default they are
    // dropped at once.
    virtual void data(wire::ChannelId, std::string_view bytes) { consumed(bytes.size()); }
    virtual void eof(wire::ChannelId) {}
    virtual void credited(std::uint32_t /*bytes*/) {}
    virtual void cancelled() { end(refusal(Errc::canceled, "cancelled by the host")); }
    // window() may have grown.
    virtual void writable() {}

    // How many bytes of DATA or EVENT may be sent now. When it is too little, writable() comes later.
    [[nodiscard]] std::size_t window();
    void send_data(wire::ChannelId channel, std::string_view bytes);
    void send_eof(wire::ChannelId channel);
    void send_event(std::string_view message);
    void consumed(std::size_t bytes);

    // Sends END and leaves the connection; the object lives until the end of the loop's turn.
    void end(const Status& status);

protected:
    // Sends END but stays, to hear what the host acknowledges; `leave` ends that.
    void end_and_linger(const Status& status);
    void leave();
    [[nodiscard]] bool ended() const { return ended_; }

private:
    friend class Connection;

    Connection& connection_;
    std::uint32_t id_;
    std::uint64_t send_credit_ = wire::kInitialWindow;
    std::uint32_t receive_credit_ = wire::kInitialWindow;  // what the host may still send
    std::uint32_t consumed_ = 0;                           // and what will be given back in one piece
    bool ended_ = false;
};

// An answer that is ready and needs credit: an event, then END.
class Reply final : public Stream {
public:
    Reply(Connection& connection, std::uint32_t id, std::string event)
        : Stream{connection, id}, event_{std::move(event)} {}

    void writable() override;

private:
    std::string event_;
};

}  // namespace oyat::agent
