#include "keeperlink/link.hpp"

#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/throwing.hpp"
#include "io/post.hpp"

namespace oyat::keeperlink {
namespace {

using wire::ChannelId;
using wire::FrameKind;

constexpr auto kPulse = std::chrono::seconds{5};
constexpr int kSilentTicks = 2;                     // 10 s without an answer
constexpr std::size_t kShortQueue = 1u << 20;       // writers wait while more is queued
constexpr std::size_t kGoodPiece = wire::kMaxData;  // small DATA frames are joined up to this

constexpr std::size_t kCreditPiece = wire::kInitialWindow / 4;
constexpr auto kCreditDelay = std::chrono::milliseconds{5};

constexpr auto kKnockAgain = std::chrono::seconds{1};

constexpr int kPatience = 12;       // ticks, a minute, for a call or for the first word of a longer stream
constexpr int kLongPatience = 120;  // for calls that may move, remove or sync whole trees

int patience_for(StreamKind kind, const wire::Request& request) {
    if (kind == StreamKind::write_file) return 0;  // it answers when we have finished
    return request.remove || request.move || request.compose || request.quiesce ? kLongPatience : kPatience;
}

// Nobody inside may guess it: a program can print what looks like a HELLO.
std::uint64_t random_number() {
    std::uint64_t number = 0;
    while (number == 0) sys(::getrandom(&number, sizeof number, 0), "get a random number");
    return number;
}

}  // namespace

Link::Link(Executor executor, Fd socket, std::uint64_t generation, std::shared_ptr<std::string> scratch)
    : executor_{executor},
      socket_{executor, std::move(socket)},
      generation_{generation},
      scratch_{std::move(scratch)},
      small_credits_due_{executor, [this] { send_small_credits(); }},
      number_{random_number()},
      hello_{number_},
      knock_again_{executor, [this] { knock(); }},
      pulse_{executor, [this] { tick(); }} {
    pulse_.arm(kPulse);
    knock();
}

Task<> Link::keep_reading(std::shared_ptr<Link> link) {
    try {
        while (!link->over_) {
            co_await link->socket_.readable();
            if (link->over_) break;
            const ssize_t got =
                ::recv(link->socket_.get(), link->scratch_->data(), link->scratch_->size(), MSG_DONTWAIT);
            if (got > 0) {
                link->take({link->scratch_->data(), static_cast<std::size_t>(got)});
            } else if (got == 0) {
                link->lose("the agent closed the connection");
            } else if (errno != EAGAIN && errno != EINTR) {
                link->lose(errno_error(errno, "read from the agent").message());
            }
        }
    } catch (const Error& e) {
        if (!link->over_) link->lose(e.message());
    }
}

Task<> Link::keep_writing(std::shared_ptr<Link> link) {
    try {
        while (!link->over_) {
            if (link->out_.empty()) {
                co_await link->writing_.wait();
            } else if (!link->flush()) {
                co_await link->socket_.writable();
            }
        }
    } catch (const Error& e) {
        if (!link->over_) link->lose(e.message());
    }
}

Task<> Link::greeted() {
    while (!greeted_ && !over_) co_await greeting_.wait();
    if (over_) throw loss();
}

Task<> Link::ended() {
    while (!over_) co_await greeting_.wait();
}

std::shared_ptr<StreamState> Link::open(StreamKind kind, const wire::Request& request) {
    if (over_) throw loss();
    if (streams_.size() >= kMaxStreams) {
        throw Error{Errc::exhausted, Fault::limit,
                    "more than " + std::to_string(kMaxStreams) + " calls into this sandbox at once"};
    }
    const std::string payload = wire::encode(request);
    if (payload.size() > wire::kMaxControl) {
        throw Error{Errc::invalid_argument, Fault::client,
                    "request of " + std::to_string(payload.size()) + " bytes; the limit is " +
                        std::to_string(wire::kMaxControl)};
    }
    const auto stream = std::make_shared<StreamState>(++last_id_, kind, patience_for(kind, request));
    streams_.emplace(stream->id, stream);
    wire::append_frame(out_, FrameKind::request, stream->id, ChannelId::none, payload);
    if (!flush()) writing_.notify_one();
    return stream;
}

Task<> Link::send_data(std::shared_ptr<Link> link, std::shared_ptr<StreamState> stream, ChannelId channel,
                       std::string bytes) {
    std::string_view rest = bytes;
    while (!rest.empty()) {
        while (!link->over_ && !stream->end && stream->rules.send_credit() == 0)
            co_await stream->credited.wait();
        while (!link->over_ && link->out_.size() - link->out_sent_ > kShortQueue)
            co_await link->drained_.wait();
        if (link->over_) throw link->loss();
        if (stream->end) co_return;  // it ended while we were sending; its reader learns how
        const std::size_t size =
            std::min({rest.size(), wire::kMaxData, static_cast<std::size_t>(stream->rules.send_credit())});
        if (size == 0) continue;
        stream->rules.sent(size);
        wire::append_frame(link->out_, FrameKind::data, stream->id, channel, rest.substr(0, size));
        rest.remove_prefix(size);
        if (!link->flush()) link->writing_.notify_one();
    }
}

void Link::send_soon(FrameKind kind, std::uint32_t stream, ChannelId channel, std::string_view payload) {
    if (over_) return;
    wire::append_frame(out_, kind, stream, channel, payload);
    writing_.notify_one();
}

void Link::give_credit(StreamState& stream, std::size_t bytes) {
    if (bytes == 0) return;
    std::uint32_t& owed = small_credits_[stream.id];
    owed += static_cast<std::uint32_t>(bytes);
    if (over_) return;
    if (owed >= kCreditPiece) {
        send_credit(stream.id, owed);
        small_credits_.erase(stream.id);
    } else if (!small_credits_due_.armed()) {
        small_credits_due_.arm(kCreditDelay);
    }
}

void Link::send_small_credits() {
    for (const auto& [stream, bytes] : std::exchange(small_credits_, {})) send_credit(stream, bytes);
}

// Also after END: credit is the acknowledgement of what a process wrote and how it ended.
void Link::send_credit(std::uint32_t stream, std::uint32_t bytes) {
    if (const auto found = streams_.find(stream); found != streams_.end()) found->second->rules.lend(bytes);
    send_soon(FrameKind::credit, stream, ChannelId::none, wire::credit_payload(bytes));
}

void Link::abandon(StreamState& stream) {
    if (std::exchange(stream.abandoned, true)) return;
    stream.pieces.clear();
    if (!stream.end) send_soon(FrameKind::cancel, stream.id, ChannelId::none, {});
}

// One that was lost in the rest of an earlier host's frame is made up for by the next.
void Link::knock() {
    if (over_ || greeted_) return;
    ++knocks_;
    send_soon(FrameKind::knock, 0, ChannelId::none, wire::u64_payload(number_));
    knock_again_.arm(kKnockAgain);
}

void Link::take_beginning(std::string_view bytes) {
    const Result<std::optional<wire::Hello>> hello = hello_.feed(bytes);
    if (!hello) return breach(hello.error().message());
    if (!*hello) return;
    if (const Result<void> good = handle_hello(**hello); !good) return breach(good.error().message());
    parser_.feed(hello_.take_rest());
}

void Link::take(std::string_view bytes) {
    if (over_) return;
    if (greeted_) {
        parser_.feed(bytes);
    } else {
        take_beginning(bytes);
        if (!greeted_) return;
    }
    while (!over_) {
        Result<std::optional<wire::Frame>> frame = parser_.next();
        if (!frame) return breach(frame.error().message());
        if (!*frame) break;
        if (const Result<void> good = handle(std::move(**frame)); !good)
            return breach(good.error().message());
    }
}

Result<void> Link::handle(wire::Frame&& frame) {
    const bool is_link_wide = frame.header.kind == FrameKind::hello || frame.header.kind == FrameKind::pong;
    if (frame.header.kind != FrameKind::data && frame.header.kind != FrameKind::eof &&
        frame.header.channel != ChannelId::none) {
        return refuse(Errc::invalid_argument, "a channel on a frame that has none");
    }
    if (is_link_wide != (frame.header.stream == 0)) {
        return refuse(Errc::invalid_argument, "frame on a stream that it does not belong to");
    }
    if (frame.header.kind == FrameKind::hello) return handle_echo(frame);
    if (frame.header.kind == FrameKind::pong) return handle_pong(frame);
    return handle_stream(std::move(frame));
}

Result<void> Link::handle_hello(const wire::Hello& hello) {
    if (hello.magic != wire::kAgentMagic) return refuse(Errc::invalid_argument, "HELLO of something else");
    if (hello.version != wire::kAgentVersion) {
        return refuse(Errc::invalid_argument, "agent of version " + std::to_string(hello.version));
    }
    if (hello.generation != generation_) return refuse(Errc::invalid_argument, "HELLO of another generation");
    if (hello.echo != 0) --knocks_;
    greeted_ = true;
    knock_again_.disarm();
    greeting_.notify_all();
    return {};
}

// Each of our knocks has one, also when the agent had greeted us before it heard them.
Result<void> Link::handle_echo(const wire::Frame& frame) {
    const Result<wire::Hello> hello = wire::decode<wire::Hello>(frame.payload);
    if (!hello) return std::unexpected{hello.error()};
    if (hello->echo != number_ || knocks_ == 0) return refuse(Errc::invalid_argument, "HELLO twice");
    --knocks_;
    return {};
}

Result<void> Link::handle_pong(const wire::Frame& frame) {
    if (unanswered_ticks_ < 0 || frame.payload != wire::u64_payload(ping_number_)) {
        return refuse(Errc::invalid_argument, "PONG that nobody asked for");
    }
    unanswered_ticks_ = -1;
    return {};
}

Result<void> Link::handle_stream(wire::Frame&& frame) {
    const auto found = streams_.find(frame.header.stream);
    if (found == streams_.end()) return refuse(Errc::invalid_argument, "frame of a stream that is not open");
    StreamState& stream = *found->second;
    switch (frame.header.kind) {
        case FrameKind::data:
            if (Result<void> good = stream.rules.data(frame.header.channel, frame.payload.size()); !good)
                return good;
            deliver(stream,
                    {.is_event = false, .channel = frame.header.channel, .bytes = std::move(frame.payload)});
            return {};
        case FrameKind::event:
            if (Result<void> good = stream.rules.event(frame.payload); !good) return good;
            deliver(stream,
                    {.is_event = true, .channel = ChannelId::none, .bytes = std::move(frame.payload)});
            return {};
        case FrameKind::eof:
            if (!frame.payload.empty()) return refuse(Errc::invalid_argument, "EOF with a payload");
            return stream.rules.eof(frame.header.channel);
        case FrameKind::credit: {
            const Result<std::uint32_t> bytes = wire::parse_credit(frame.payload);
            if (!bytes) return std::unexpected{bytes.error()};
            if (Result<void> good = stream.rules.credit(*bytes); !good) return good;
            stream.credited.notify_all();
            return {};
        }
        case FrameKind::end: {
            Result<wire::Status> status = wire::decode<wire::Status>(frame.payload);
            if (!status) return std::unexpected{std::move(status).error()};
            if (Result<void> good = stream.rules.end(*status); !good && !stream.abandoned) return good;
            stream.end = *std::move(status);
            stream.arrived.notify_all();
            stream.credited.notify_all();
            streams_.erase(found);
            return {};
        }
        default: return refuse(Errc::invalid_argument, "frame of a kind that only the host sends");
    }
}

void Link::deliver(StreamState& stream, Piece piece) {
    if (stream.abandoned) return;
    if (stream.kind != StreamKind::call) stream.patience = 0;
    // Joined, so that a flood of one-byte frames costs no more memory than its bytes (threats D-24).
    if (!piece.is_event && !stream.pieces.empty()) {
        Piece& last = stream.pieces.back();
        if (!last.is_event && last.channel == piece.channel &&
            last.bytes.size() + piece.bytes.size() <= kGoodPiece) {
            last.bytes += piece.bytes;
            return;
        }
    }
    stream.pieces.push_back(std::move(piece));
    stream.arrived.notify_all();
}

// Writes what it can; false while something is left.
bool Link::flush() {
    while (!over_ && out_sent_ < out_.size()) {
        const ssize_t sent = ::send(socket_.get(), out_.data() + out_sent_, out_.size() - out_sent_,
                                    MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent >= 0) {
            out_sent_ += static_cast<std::size_t>(sent);
        } else if (errno == EAGAIN) {
            break;
        } else if (errno != EINTR) {
            lose(errno_error(errno, "write to the agent").message());
            return true;
        }
    }
    if (out_sent_ == out_.size()) {
        out_.clear();
        out_sent_ = 0;
        if (out_.capacity() > kShortQueue / 4) out_.shrink_to_fit();
    } else if (out_sent_ > out_.size() / 2) {
        out_.erase(0, out_sent_);
        out_sent_ = 0;
    }
    if (out_.size() - out_sent_ <= kShortQueue) drained_.notify_all();
    return out_.empty();
}

void Link::tick() {
    if (over_) return;
    pulse_.arm(kPulse);
    if (frozen_ || !greeted_) return;
    lose_patience();
    if (unanswered_ticks_ < 0) {
        unanswered_ticks_ = 0;
        send_soon(FrameKind::ping, 0, ChannelId::none, wire::u64_payload(++ping_number_));
    } else if (++unanswered_ticks_ >= kSilentTicks) {
        lose("no sign of life for 10 s");
    }
}

// An agent that answers pings but not what it was asked must not hold a client for ever.
void Link::lose_patience() {
    for (auto& [id, stream] : streams_) {
        if (stream->abandoned || stream->patience == 0 || --stream->patience > 0) continue;
        abandon(*stream);
        stream->end = wire::Status{.code = static_cast<std::uint32_t>(Errc::deadline) + 1,
                                   .message = "the sandbox's agent did not answer in time"};
        stream->arrived.notify_all();
        stream->credited.notify_all();
    }
}

void Link::set_frozen(bool frozen) {
    frozen_ = frozen;
    // A ping may be waiting in the frozen agent's socket; it has its full time again after the thaw.
    if (unanswered_ticks_ > 0) unanswered_ticks_ = 0;
}

void Link::lose(std::string reason) {
    if (!over_) shut(std::move(reason));
}

void Link::close() {
    if (over_) return;
    send_small_credits();
    flush();
    lose("closed by oyatd");
}

void Link::breach(std::string reason) {
    if (over_) return;
    breached_ = true;
    for (auto& [id, stream] : streams_) stream->pieces.clear();
    shut("the agent broke its protocol: " + reason);
}

void Link::shut(std::string reason) {
    const std::shared_ptr<Link> self = shared_from_this();
    over_ = true;
    reason_ = std::move(reason);
    pulse_.disarm();
    small_credits_due_.disarm();
    knock_again_.disarm();
    socket_.close();
    out_.clear();
    out_sent_ = 0;
    parser_ = wire::FrameParser{};
    for (auto& [id, stream] : std::exchange(streams_, {})) {
        stream->arrived.notify_all();
        stream->credited.notify_all();
    }
    greeting_.notify_all();
    writing_.notify_all();
    drained_.notify_all();
    // On a turn of its own: whoever hears of it may drop the channel, and we may stand deep inside a call of
    // its.
    if (on_lost_)
        post(executor_, [handler = std::exchange(on_lost_, {}), reason = reason_] { handler(reason); });
}

Error Link::loss() const {
    return Error{Errc::unavailable, Fault::agent, "the sandbox's agent is lost: " + reason_};
}

void Link::on_lost(std::function<void(std::string)> handler) {
    if (over_ && handler) {
        post(executor_, [handler = std::move(handler), reason = reason_] { handler(reason); });
    } else {
        on_lost_ = std::move(handler);
    }
}

}  // namespace oyat::keeperlink
