#include "agent/stream.hpp"

#include <algorithm>

#include "agent/connection.hpp"
#include "base/assert.hpp"

namespace oyat::agent {
namespace {

// Credit goes back in pieces of this size: a quarter of the window, so that the host never runs dry.
constexpr std::uint32_t kCreditPiece = wire::kInitialWindow / 4;

}  // namespace

std::size_t Stream::window() {
    const std::size_t room = connection_.room(*this);
    return std::min<std::uint64_t>(send_credit_, room);
}

// Nothing follows END: a stream that was cancelled in this turn of the loop may still have a step to run in it.
void Stream::send_data(wire::ChannelId channel, std::string_view bytes) {
    if (ended_) return;
    OYAT_ASSERT(bytes.size() <= send_credit_);
    send_credit_ -= bytes.size();
    connection_.send(wire::FrameKind::data, id_, channel, bytes);
}

void Stream::send_eof(wire::ChannelId channel) {
    if (ended_) return;
    connection_.send(wire::FrameKind::eof, id_, channel, {});
}

void Stream::send_event(std::string_view message) {
    if (ended_) return;
    OYAT_ASSERT(message.size() <= send_credit_);
    send_credit_ -= message.size();
    connection_.send(wire::FrameKind::event, id_, wire::ChannelId::none, message);
}

void Stream::consumed(std::size_t bytes) {
    consumed_ += static_cast<std::uint32_t>(bytes);
    if (consumed_ < kCreditPiece || ended_) return;
    receive_credit_ += consumed_;
    connection_.send(wire::FrameKind::credit, id_, wire::ChannelId::none,
                     wire::credit_payload(std::exchange(consumed_, 0)));
}

void Stream::end(const Status& status) {
    end_and_linger(status);
    leave();
}

void Stream::end_and_linger(const Status& status) {
    if (std::exchange(ended_, true)) return;
    connection_.send_end(id_, status);
}

void Stream::leave() {
    connection_.remove(id_);
}

void Reply::writable() {
    if (window() < event_.size()) return;
    send_event(event_);
    end({});
}

}  // namespace oyat::agent
