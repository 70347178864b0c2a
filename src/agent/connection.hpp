#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "agent/loop.hpp"
#include "agent/stream.hpp"
#include "base/fd.hpp"
#include "wire/agent_messages.hpp"
#include "wire/frame.hpp"

namespace oyat::agent {

class Connection;

// Makes a stream of a request, or answers it at once and returns none.
class RequestHandler {
public:
    virtual std::unique_ptr<Stream> open(Connection& connection, std::uint32_t id, wire::Request request) = 0;

protected:
    ~RequestHandler() = default;
};

// Who has the connection.
class ConnectionOwner {
public:
    // The host has said that it starts here: what was before is none of its business, and is gone.
    virtual void knocked(Connection& connection, std::uint64_t number) = 0;
    // Once, when nothing more will come.
    virtual void broken() = 0;
    // Whether another host may come on the same stream, as on a port.
    [[nodiscard]] virtual bool stream_goes_on() const = 0;

protected:
    ~ConnectionOwner() = default;
};

// One connection of the host: cuts its bytes into frames, gives each to its stream, and sends what the
// streams have. Everything that the host could send too much of is bounded; a host that breaks the protocol
// is hung up on.
class Connection final : public Mortal {
public:
    static constexpr std::size_t kMaxStreams = 4096;

    // `stream` is a socket or a port; it does not block.
    Connection(Loop& loop, Fd stream, RequestHandler& handler, ConnectionOwner& owner);
    ~Connection() override;

    void send(wire::FrameKind kind, std::uint32_t stream, wire::ChannelId channel, std::string_view payload);
    void send_end(std::uint32_t stream, const Status& status);

    // Bytes that may be queued for the socket now. When there are none the stream will be told once there
    // are.
    [[nodiscard]] std::size_t room(const Stream& stream);

    // Hangs up once what was sent so far is out; from here on nothing else is heard or said.
    void finish();
    [[nodiscard]] bool finished() const { return finishing_; }
    // What comes before a KNOCK was sent to an earlier connection.
    void wait_for_knock() { deaf_ = true; }

    // The stream has ended: it leaves, and dies at the end of the turn.
    void remove(std::uint32_t stream);

private:
    void ready(std::uint32_t events);
    void receive();
    bool take_frames();
    bool take(const wire::Frame& frame);
    bool take_request(const wire::Frame& frame);
    void start_over();
    void watch_half_frame();
    void start_half_frame();
    void flush();
    void rearm();
    void give_room();
    void give_back_memory();
    void host_is_away();
    void look_again();
    void hang_up();

    Loop& loop_;
    Fd stream_;
    RequestHandler& handler_;
    ConnectionOwner& owner_;
    Readiness readiness_;
    Steps flush_soon_;
    IdleHook idle_;
    Timer half_frame_;
    Timer away_;
    std::int64_t half_frame_due_ms_ = 0;
    wire::FrameParser parser_;
    std::size_t unparsed_ = 0;  // bytes in parser_ that are no whole frame yet
    std::string out_;
    std::size_t out_sent_ = 0;  // bytes of out_ that the socket has taken
    std::map<std::uint32_t, std::unique_ptr<Stream>> streams_;
    std::set<std::uint32_t> want_room_;
    std::uint32_t last_stream_ = 0;
    bool finishing_ = false;
    bool deaf_ = false;
    bool broken_ = false;
};

}  // namespace oyat::agent
