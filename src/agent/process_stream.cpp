#include "agent/process_stream.hpp"

#include "agent/process_table.hpp"

namespace oyat::agent {

ProcessStream::~ProcessStream() {
    if (process_ != nullptr) process_->detach();
}

void ProcessStream::data(wire::ChannelId channel, std::string_view bytes) {
    const bool is_input = channel == wire::ChannelId::stdin_ || channel == wire::ChannelId::pty;
    if (process_ == nullptr || !is_input) return consumed(bytes.size());
    process_->input(bytes);
}

void ProcessStream::eof(wire::ChannelId) {
    if (process_ != nullptr) process_->close_input();
}

void ProcessStream::credited(std::uint32_t bytes) {
    if (process_ != nullptr) process_->acknowledged(bytes);
}

void ProcessStream::writable() {
    if (process_ != nullptr) process_->pump();
}

void ProcessStream::cancelled() {
    Process* const process = process_;
    if (process == nullptr) return;
    if (ended()) return process->forget();  // the host knows how it ended
    process_ = nullptr;
    process->detach();
    end(refusal(Errc::canceled, "cancelled by the host"));
    process->abandon_if_held();
}

void ProcessStream::taken_over() {
    process_ = nullptr;
    if (!ended()) end_and_linger(refusal(Errc::canceled, "taken over by another stream"));
    leave();
}

void ProcessStream::forgotten() {
    process_ = nullptr;
    if (!ended()) end_and_linger(refusal(Errc::exhausted, "the end of the process was not fetched in time"));
    leave();
}

}  // namespace oyat::agent
