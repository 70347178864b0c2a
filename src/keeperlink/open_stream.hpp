#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "keeperlink/agent_translate.hpp"
#include "keeperlink/link.hpp"

namespace oyat::keeperlink {

// Owns our end of one open stream: the agent is told when it is dropped before its end.
class OpenStream {
public:
    OpenStream(std::shared_ptr<Link> link, StreamKind kind, const wire::Request& request)
        : link_{std::move(link)}, state_{link_->open(kind, request)} {}
    OpenStream(OpenStream&&) noexcept = default;
    OpenStream& operator=(OpenStream&&) = delete;
    ~OpenStream() {
        if (state_) link_->abandon(*state_);
    }

    // The next piece; nothing after a good END. Throws the refusal that the stream ended with, or how the
    // link was lost.
    Task<std::optional<Piece>> next();
    // True when next() would not wait.
    [[nodiscard]] bool ready() const { return !state_->pieces.empty() || state_->end || link_->over(); }
    [[nodiscard]] bool at_end() const { return state_->pieces.empty() && state_->end; }

    void credit(std::size_t bytes) { link_->give_credit(*state_, bytes); }
    [[nodiscard]] bool owes_credit() const { return link_->owes_credit(*state_); }
    Task<> send(wire::ChannelId channel, std::string bytes) {
        return Link::send_data(link_, state_, channel, std::move(bytes));
    }
    void send_eof(wire::ChannelId channel) {
        link_->send_soon(wire::FrameKind::eof, state_->id, channel, {});
    }
    [[nodiscard]] bool ended() const { return state_->end.has_value(); }

    // The message of an event. One that does not decode ends the link, like any other breach.
    template <class T>
    T read(const Piece& piece) {
        Result<T> message = wire::decode<T>(piece.bytes);
        if (message) return *std::move(message);
        link_->breach(message.error().message());
        throw link_->loss();
    }

private:
    std::shared_ptr<Link> link_;
    std::shared_ptr<StreamState> state_;
};

inline Task<std::optional<Piece>> OpenStream::next() {
    while (!ready()) co_await state_->arrived.wait();
    if (!state_->pieces.empty()) {
        std::optional<Piece> piece{std::move(state_->pieces.front())};
        state_->pieces.pop_front();
        co_return piece;
    }
    if (!state_->end) throw link_->loss();
    if (state_->end->code != 0) throw to_error(*state_->end);
    co_return std::nullopt;
}

}  // namespace oyat::keeperlink
