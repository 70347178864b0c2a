#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "io/async_fd.hpp"
#include "io/condition.hpp"
#include "io/task.hpp"
#include "io/timer.hpp"
#include "keeperlink/hello_finder.hpp"
#include "keeperlink/stream_rules.hpp"
#include "wire/agent_messages.hpp"
#include "wire/frame.hpp"

namespace oyat::keeperlink {

// What came on a stream: an event's message, or bytes of a channel.
struct Piece {
    bool is_event = false;
    wire::ChannelId channel = wire::ChannelId::none;
    std::string bytes;
};

// The link's own notes on one open stream; shared by the link, until the agent's END, and by whoever opened
// it.
struct StreamState {
    StreamState(std::uint32_t number, StreamKind what, int ticks)
        : id{number}, kind{what}, rules{what}, patience{ticks} {}

    const std::uint32_t id;
    const StreamKind kind;
    StreamRules rules;
    int patience;  // ticks of the pulse until an answer must have come; 0: no limit (any more)
    std::deque<Piece> pieces;
    std::optional<wire::Status> end;
    bool abandoned = false;  // nobody reads it any more
    Condition arrived;       // of pieces, or an end of any kind
    Condition credited;
};

// One connection to an agent as frames: reads and checks them, keeps the books of all streams, writes in
// order, asks for signs of life. Anything that the agent is not allowed to send ends the connection at once
// and what it had sent before is not delivered (threats D-20 to D-30). Shared by the channel, its tasks and
// its streams.
class Link : public std::enable_shared_from_this<Link> {
public:
    static constexpr std::size_t kMaxStreams = 1024;

    // `scratch` is what bytes are received into, between two awaits only, so that links may share it.
    Link(Executor executor, Fd socket, std::uint64_t generation, std::shared_ptr<std::string> scratch);

    // The link's two tasks. They end when the link does.
    static Task<> keep_reading(std::shared_ptr<Link> link);
    static Task<> keep_writing(std::shared_ptr<Link> link);

    // Returns once the agent has said who it is; throws what ended the link.
    Task<> greeted();
    // Returns when the link is over, for whatever reason.
    Task<> ended();
    // Sends the request at once, in one piece with what else is to be sent.
    [[nodiscard]] std::shared_ptr<StreamState> open(StreamKind kind, const wire::Request& request);
    // Sends DATA within the stream's credit; returns when it is queued and the queue is short.
    static Task<> send_data(std::shared_ptr<Link> link, std::shared_ptr<StreamState> stream,
                            wire::ChannelId channel, std::string bytes);
    // Small frames that may wait for the end of the loop's turn.
    void send_soon(wire::FrameKind kind, std::uint32_t stream, wire::ChannelId channel,
                   std::string_view payload);
    // Credit of a quarter window goes at once; less of it within 5 ms, so that the agent is not woken for
    // each small piece while the command and its reader want the processors.
    void give_credit(StreamState& stream, std::size_t bytes);
    // Whether some of it has not gone out, or never will.
    [[nodiscard]] bool owes_credit(const StreamState& stream) const {
        return small_credits_.contains(stream.id);
    }
    void abandon(StreamState& stream);

    // Asks for a sign of life and counts how long answers are due; a timer calls it every 5 s.
    void tick();

    // Bytes as they came from the agent.
    void take(std::string_view bytes);

    // Ends the link. After a breach nothing that is queued is delivered; before we close it of our own, the
    // agent gets what credit it has earned.
    void lose(std::string reason);
    void close();
    void breach(std::string reason);
    [[nodiscard]] bool over() const { return over_; }
    [[nodiscard]] bool broke_protocol() const { return breached_; }
    [[nodiscard]] Error loss() const;

    void on_lost(std::function<void(std::string)> handler);  // an empty one takes the earlier back
    void set_frozen(bool frozen);

private:
    Result<void> handle(wire::Frame&& frame);
    Result<void> handle_hello(const wire::Hello& hello);
    Result<void> handle_echo(const wire::Frame& frame);
    void knock();
    void take_beginning(std::string_view bytes);
    Result<void> handle_pong(const wire::Frame& frame);
    Result<void> handle_stream(wire::Frame&& frame);
    void deliver(StreamState& stream, Piece piece);
    bool flush();
    void lose_patience();
    void send_credit(std::uint32_t stream, std::uint32_t bytes);
    void send_small_credits();
    void shut(std::string reason);

    Executor executor_;
    AsyncFd socket_;
    const std::uint64_t generation_;
    std::shared_ptr<std::string> scratch_;
    wire::FrameParser parser_;
    std::unordered_map<std::uint32_t, std::shared_ptr<StreamState>> streams_;
    std::uint32_t last_id_ = 0;

    std::string out_;
    std::size_t out_sent_ = 0;  // bytes of out_ that the socket has taken
    Condition writing_;         // there is something to write
    Condition drained_;
    std::unordered_map<std::uint32_t, std::uint32_t> small_credits_;  // bytes by stream, not yet sent
    Timer small_credits_due_;

    const std::uint64_t number_;  // that we knock with
    HelloFinder hello_;
    std::uint32_t knocks_ = 0;  // that no HELLO has answered yet
    Timer knock_again_;
    bool greeted_ = false;
    bool over_ = false;
    bool breached_ = false;
    std::string reason_;
    Condition greeting_;
    std::function<void(std::string)> on_lost_;

    Timer pulse_;
    bool frozen_ = false;
    std::uint64_t ping_number_ = 0;
    int unanswered_ticks_ = -1;  // -1: no ping is out
};

}  // namespace oyat::keeperlink
