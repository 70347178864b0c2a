#include "keeperlink/stream_rules.hpp"

#include <string>

namespace oyat::keeperlink {
namespace {

using wire::ChannelId;

constexpr std::uint32_t kMaxPid = 1u << 22;  // the kernel's own ceiling of pid_max
constexpr std::uint32_t kMaxSignal = 64;
constexpr std::uint32_t kMaxCallEvents = 256;  // a list of processes comes in several

std::unexpected<Error> breach(std::string what) {
    return refuse(Errc::invalid_argument, std::move(what));
}

std::uint8_t bit_of(ChannelId channel) {
    return static_cast<std::uint8_t>(1u << static_cast<unsigned>(channel));
}

bool is_output(ChannelId channel) {
    return channel == ChannelId::stdout_ || channel == ChannelId::stderr_ || channel == ChannelId::pty;
}

}  // namespace

Result<void> StreamRules::spend(std::size_t bytes) {
    // An empty frame costs no credit, so there could be any number of them.
    if (bytes == 0) return breach("empty frame");
    if (bytes > lent_) return breach("more bytes than credit");
    lent_ -= bytes;
    return {};
}

Result<void> StreamRules::data(ChannelId channel, std::size_t bytes) {
    if (kind_ == StreamKind::process) {
        if (!is_output(channel)) return breach("process data on a channel that is no output");
        if (!started_) return breach("output before Started");
        (channel == ChannelId::pty ? pty_output_ : plain_output_) = true;
        if (pty_output_ && plain_output_) return breach("output of a terminal and of pipes on one process");
    } else if (kind_ == StreamKind::read_file) {
        if (channel != ChannelId::file) return breach("file data on another channel");
        if (events_ == 0) return breach("file data before its entry");
    } else {
        return breach("data on a stream that has none");
    }
    if ((closed_channels_ & bit_of(channel)) != 0) return breach("data after EOF");
    return spend(bytes);
}

Result<void> StreamRules::event(std::string_view payload) {
    if (Result<void> paid = spend(payload.size()); !paid) return paid;
    ++events_;
    switch (kind_) {
        case StreamKind::process: return process_event(payload);
        case StreamKind::call:
            return events_ <= kMaxCallEvents ? Result<void>{} : breach("too many events of one call");
        case StreamKind::read_file:
        case StreamKind::write_file:
            return events_ == 1 ? Result<void>{} : breach("a second entry of one file");
        case StreamKind::listing:
        case StreamKind::watch: return {};
    }
    return {};
}

Result<void> StreamRules::process_event(std::string_view payload) {
    const Result<wire::ProcessEvent> event = wire::decode<wire::ProcessEvent>(payload);
    if (!event) return std::unexpected{event.error()};
    if (event->started.has_value() == event->exited.has_value())
        return breach("process event that is not one thing");
    if (event->started) {
        if (started_) return breach("Started twice");
        if (event->started->pid == 0 || event->started->pid > kMaxPid) return breach("impossible pid");
        started_ = true;
        return {};
    }
    if (!started_) return breach("Exited before Started");
    if (exited_) return breach("Exited twice");
    if (event->exited->exit_code < 0 || event->exited->exit_code > 255) return breach("impossible exit code");
    if (event->exited->signal > kMaxSignal) return breach("impossible signal");
    exited_ = true;
    return {};
}

Result<void> StreamRules::eof(ChannelId channel) {
    const bool fits = kind_ == StreamKind::process
                          ? is_output(channel)
                          : kind_ == StreamKind::read_file && channel == ChannelId::file;
    if (!fits) return breach("EOF of a channel that the stream does not have");
    if ((closed_channels_ & bit_of(channel)) != 0) return breach("EOF twice");
    closed_channels_ |= bit_of(channel);
    return {};
}

Result<void> StreamRules::credit(std::uint32_t bytes) {
    if (bytes == 0 || send_credit_ + bytes > wire::kInitialWindow)
        return breach("credit for what was never sent");
    send_credit_ += bytes;
    return {};
}

Result<void> StreamRules::end(const wire::Status& status) const {
    if (status.code != 0) return {};
    switch (kind_) {
        case StreamKind::process:
            return exited_ ? Result<void>{} : breach("a process's end without its Exited");
        case StreamKind::read_file:
        case StreamKind::write_file:
            return events_ == 1 ? Result<void>{} : breach("a file's end without its entry");
        default: return {};
    }
}

}  // namespace oyat::keeperlink
