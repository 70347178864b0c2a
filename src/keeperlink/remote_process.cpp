#include "keeperlink/remote_process.hpp"

#include <utility>

namespace oyat::keeperlink {
namespace {

// While more is waiting to be read, credit goes back in pieces of this size.
constexpr std::size_t kCreditPiece = wire::kInitialWindow / 4;

core::OutputChannel output_of(wire::ChannelId channel) {
    switch (channel) {
        case wire::ChannelId::stderr_: return core::OutputChannel::err;
        case wire::ChannelId::pty: return core::OutputChannel::pty;
        default: return core::OutputChannel::out;
    }
}

}  // namespace

Task<std::unique_ptr<core::AgentProcess>> RemoteProcess::open(std::shared_ptr<Link> link,
                                                              wire::Request request) {
    const bool pty = request.spawn && request.spawn->pty;
    OpenStream stream{std::move(link), StreamKind::process, request};
    std::unique_ptr<RemoteProcess> process{
        new RemoteProcess{std::move(stream), pty ? wire::ChannelId::pty : wire::ChannelId::stdin_}};
    // The rules let nothing but Started through as the first piece, and no good end without it.
    const std::optional<Piece> first = co_await process->stream_.next();
    process->started_ = process->stream_.read<wire::ProcessEvent>(*first).started.value();
    process->owed_ = first->bytes.size();
    co_return process;
}

// What had been handed out when we lost interest may not have reached anybody, so it is not acknowledged;
// unless the process is over, when dropping it says that its end has been noted.
RemoteProcess::~RemoteProcess() {
    if (stream_.at_end()) stream_.credit(owed_);
}

WallTime RemoteProcess::started() const {
    return plausible_time(started_.started_ms);
}

Task<std::optional<std::variant<core::Output, core::ExitReport>>> RemoteProcess::next() {
    // The exit is acknowledged by more output that follows it, or by our destructor: the agent keeps it until
    // then.
    if (!exited_ && (owed_ >= kCreditPiece || !stream_.ready())) acknowledge();
    std::optional<Piece> piece = co_await stream_.next();
    if (!piece) co_return std::nullopt;
    if (exited_) acknowledge();
    owed_ += piece->bytes.size();
    if (!piece->is_event) {
        (piece->channel == wire::ChannelId::stderr_ ? owed_output_.err : owed_output_.out) +=
            piece->bytes.size();
        co_return core::Output{.channel = output_of(piece->channel), .bytes = std::move(piece->bytes)};
    }
    exited_ = true;
    co_return to_core(stream_.read<wire::ProcessEvent>(*piece).exited.value());
}

void RemoteProcess::acknowledge() {
    if (!stream_.owes_credit()) late_output_ = {};
    late_output_.out += owed_output_.out;
    late_output_.err += owed_output_.err;
    stream_.credit(std::exchange(owed_, 0));
    owed_output_ = {};
}

core::AgentProcess::Unacknowledged RemoteProcess::unacknowledged() const {
    if (!stream_.owes_credit()) return owed_output_;
    return {.out = owed_output_.out + late_output_.out, .err = owed_output_.err + late_output_.err};
}

Task<> RemoteProcess::write_input(std::string bytes) {
    co_await stream_.send(input_, std::move(bytes));
}

Task<> RemoteProcess::close_input() {
    if (!stream_.ended()) stream_.send_eof(input_);
    co_return;
}

}  // namespace oyat::keeperlink
