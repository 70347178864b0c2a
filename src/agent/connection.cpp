#include "agent/connection.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <limits>

namespace oyat::agent {
namespace {

// Streams stop producing at kOutFull and go on at kOutLow. Answers that need no credit (END, PONG) may go
// beyond; at kOutStop nothing more is read from a host that does not read either.
constexpr std::size_t kOutFull = 512 * 1024;
constexpr std::size_t kOutLow = 128 * 1024;
constexpr std::size_t kOutStop = 1024 * 1024;
// Bytes received in one turn before others have theirs.
constexpr std::size_t kReceiveBurst = 512 * 1024;
constexpr std::size_t kPing = 8;
constexpr std::int64_t kHalfFrameMs = 3000;
constexpr std::int64_t kAwayMs = 5;

}  // namespace

Connection::Connection(Loop& loop, Fd stream, RequestHandler& handler, ConnectionOwner& owner)
    : loop_{loop},
      stream_{std::move(stream)},
      handler_{handler},
      owner_{owner},
      readiness_{loop, [this](std::uint32_t events) { ready(events); }},
      flush_soon_{loop, [this] { flush(); }},
      idle_{loop, [this] { give_back_memory(); }},
      half_frame_{loop, [this] { watch_half_frame(); }},
      away_{loop, [this] { look_again(); }} {
    rearm();
}

Connection::~Connection() {
    broken_ = true;
    streams_.clear();
}

void Connection::send(wire::FrameKind kind, std::uint32_t stream, wire::ChannelId channel,
                      std::string_view payload) {
    if (broken_ || finishing_) return;
    wire::append_frame(out_, kind, stream, channel, payload);
    flush_soon_.resume();
}

void Connection::send_end(std::uint32_t stream, const Status& status) {
    send(wire::FrameKind::end, stream, wire::ChannelId::none, wire::encode(status));
}

std::size_t Connection::room(const Stream& stream) {
    const std::size_t queued = out_.size() - out_sent_;
    if (queued < kOutFull) return wire::kMaxControl + kOutFull - queued;
    want_room_.insert(stream.id());
    return 0;
}

void Connection::finish() {
    finishing_ = true;
    flush_soon_.resume();
}

void Connection::remove(std::uint32_t stream) {
    const auto found = streams_.find(stream);
    if (found == streams_.end()) return;
    want_room_.erase(stream);
    loop_.bury(std::move(found->second));
    streams_.erase(found);
}

void Connection::ready(std::uint32_t events) {
    if ((events & EPOLLOUT) != 0) flush();
    // Where nothing is read the end would not be seen.
    const bool is_read = !finishing_ && out_.size() - out_sent_ < kOutStop;
    if (!is_read && (events & (EPOLLHUP | EPOLLERR)) != 0) return host_is_away();
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) receive();
}

void Connection::receive() {
    std::size_t burst = 0;
    while (!broken_ && !finishing_ && burst < kReceiveBurst && out_.size() - out_sent_ < kOutStop) {
        const ssize_t got = ::read(stream_.get(), loop_.scratch(), Loop::kScratch);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && errno == EAGAIN) break;
        if (got <= 0) return host_is_away();
        burst += static_cast<std::size_t>(got);
        unparsed_ += static_cast<std::size_t>(got);
        parser_.feed({loop_.scratch(), static_cast<std::size_t>(got)});
        if (!take_frames()) return hang_up();
        if (static_cast<std::size_t>(got) < Loop::kScratch) break;
    }
    if (!broken_ && unparsed_ > 0 && !half_frame_.running()) start_half_frame();
}

// A port does not tell a host that went away in the middle of a frame from the next one, whose KNOCK would be
// taken for the rest of it.
void Connection::watch_half_frame() {
    // Or it is us who do not read, or who were frozen.
    const bool is_ours =
        out_.size() - out_sent_ >= kOutStop || mono_ms() > half_frame_due_ms_ + kHalfFrameMs / 4;
    if (!is_ours) return hang_up();
    start_half_frame();
}

void Connection::start_half_frame() {
    half_frame_due_ms_ = mono_ms() + kHalfFrameMs;
    half_frame_.start(kHalfFrameMs);
}

bool Connection::take_frames() {
    while (!finishing_) {
        Result<std::optional<wire::Frame>> frame = parser_.next();
        if (!frame) return false;
        if (!*frame) break;
        unparsed_ -= wire::kHeaderSize + (*frame)->payload.size();
        half_frame_.stop();
        if (!take(**frame)) return false;
    }
    return true;
}

bool Connection::take(const wire::Frame& frame) {
    using wire::FrameKind;
    const std::uint32_t id = frame.header.stream;
    if (deaf_ && frame.header.kind != FrameKind::knock) return true;
    if (frame.header.kind == FrameKind::ping) {
        if (id != 0 || frame.payload.size() != kPing) return false;
        send(FrameKind::pong, 0, wire::ChannelId::none, frame.payload);
        return true;
    }
    if (frame.header.kind == FrameKind::knock) {
        if (id != 0 || frame.payload.size() != kPing) return false;
        deaf_ = false;
        start_over();
        owner_.knocked(*this, wire::get_u64(frame.payload));
        return true;
    }
    if (frame.header.kind == FrameKind::request) return take_request(frame);
    if (id == 0 || id > last_stream_) return false;  // never opened

    const auto found = streams_.find(id);
    Stream* stream = found == streams_.end() ? nullptr : found->second.get();
    const auto size = static_cast<std::uint32_t>(frame.payload.size());
    switch (frame.header.kind) {
        case FrameKind::data:
            if (stream == nullptr) return true;  // it ended while this was on its way
            if (size > stream->receive_credit_) return false;
            stream->receive_credit_ -= size;
            stream->data(frame.header.channel, frame.payload);
            return true;
        case FrameKind::eof:
            if (stream != nullptr) stream->eof(frame.header.channel);
            return true;
        case FrameKind::credit: {
            const Result<std::uint32_t> bytes = wire::parse_credit(frame.payload);
            if (!bytes) return false;
            if (stream == nullptr) return true;
            stream->send_credit_ += *bytes;
            // More than was ever lent: the host's books are wrong.
            if (stream->send_credit_ > wire::kInitialWindow) return false;
            stream->credited(*bytes);
            if (streams_.contains(id) && !stream->ended()) stream->writable();
            return true;
        }
        case FrameKind::cancel:
            if (stream != nullptr) stream->cancelled();
            return true;
        default: return false;  // only an agent says that
    }
}

// On a port the old host's streams may still be here, and what they had to say.
void Connection::start_over() {
    if (last_stream_ == 0) return;
    for (auto& [id, stream] : std::exchange(streams_, {})) loop_.bury(std::move(stream));
    want_room_.clear();
    out_.clear();
    out_sent_ = 0;
    last_stream_ = 0;
}

bool Connection::take_request(const wire::Frame& frame) {
    const std::uint32_t id = frame.header.stream;
    if (id <= last_stream_) return false;
    last_stream_ = id;
    if (streams_.size() >= kMaxStreams) {
        send_end(id, refusal(Errc::exhausted, "more than 4096 streams are open"));
        return true;
    }
    Result<wire::Request> request = wire::decode<wire::Request>(frame.payload);
    if (!request) {
        send_end(id, refusal(Errc::invalid_argument, "request: " + request.error().message()));
        return true;
    }
    std::unique_ptr<Stream> stream = handler_.open(*this, id, *std::move(request));
    if (!stream) return true;
    Stream& opened = *stream;
    streams_.emplace(id, std::move(stream));
    opened.writable();
    return true;
}

void Connection::flush() {
    while (!broken_ && out_sent_ < out_.size()) {
        // SIGPIPE is blocked.
        const ssize_t sent = ::write(stream_.get(), out_.data() + out_sent_, out_.size() - out_sent_);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0 && errno == EAGAIN) break;
        if (sent < 0) return hang_up();
        out_sent_ += static_cast<std::size_t>(sent);
    }
    flush_soon_.pause();
    if (finishing_ && out_sent_ == out_.size()) return hang_up();
    if (out_sent_ == out_.size()) {
        out_.clear();
        out_sent_ = 0;
    } else if (out_sent_ > out_.size() / 2) {
        out_.erase(0, out_sent_);
        out_sent_ = 0;
    }
    rearm();
    if (out_.size() - out_sent_ < kOutLow) give_room();
}

void Connection::rearm() {
    if (broken_ || away_.running()) return;
    const std::size_t queued = out_.size() - out_sent_;
    std::uint32_t events = queued < kOutStop && !finishing_ ? EPOLLIN : 0;
    if (queued > 0) events |= EPOLLOUT;
    readiness_.arm(stream_.get(), events);
}

void Connection::give_room() {
    for (const std::uint32_t id : std::exchange(want_room_, {})) {
        const auto found = streams_.find(id);
        if (found != streams_.end() && !found->second->ended()) found->second->writable();
    }
}

void Connection::give_back_memory() {
    if (out_.empty()) std::string{}.swap(out_);
    if (unparsed_ == 0) parser_ = wire::FrameParser{};
}

// The port of a restored machine may tell of the departure of the host before the checkpoint when the next
// one has already knocked: what is true a moment later counts.
void Connection::host_is_away() {
    if (finishing_ || !owner_.stream_goes_on()) return hang_up();
    readiness_.disarm();
    away_.start(kAwayMs);
}

void Connection::look_again() {
    pollfd now{.fd = stream_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&now, 1, 0) < 0 || (now.revents & (POLLHUP | POLLERR)) != 0) return hang_up();
    rearm();
}

void Connection::hang_up() {
    if (std::exchange(broken_, true)) return;
    readiness_.disarm();
    flush_soon_.pause();
    half_frame_.stop();
    away_.stop();
    owner_.broken();
}

}  // namespace oyat::agent
