#include "agent/process.hpp"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "agent/process_stream.hpp"
#include "agent/process_table.hpp"
#include "agent/process_tree.hpp"
#include "agent/pty.hpp"

namespace oyat::agent {
namespace {

constexpr std::size_t kPipeChunk = 32 * 1024;
constexpr std::size_t kTerminalChunk = 16 * 1024;
// Chunks of one output in one turn before others have theirs.
constexpr int kChunksPerTurn = 4;
// What listings repeat of argv and environment, together.
constexpr std::size_t kListedText = 16 * 1024;

std::uint64_t micros(const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(time.tv_usec);
}

// Cuts off what a listing would have no room for.
void shorten(wire::Spawn& request) {
    std::size_t left = kListedText;
    const auto fits = [&left](std::size_t bytes) {
        if (bytes > left) return false;
        left -= bytes;
        return true;
    };
    for (std::string& argument : request.argv) {
        if (!fits(argument.size() + 8)) argument.resize(std::exchange(left, 0));
    }
    while (!request.argv.empty() && request.argv.back().empty() && left == 0) request.argv.pop_back();
    std::erase_if(request.env,
                  [&](const auto& entry) { return !fits(entry.first.size() + entry.second.size() + 8); });
    request.forced_env.clear();
    // A string that was cut short keeps all of its memory, and a list its places.
    for (std::string& argument : request.argv) argument.shrink_to_fit();
    request.argv.shrink_to_fit();
}

}  // namespace

Process::Process(Loop& loop, ProcessTable& table, Launched launched, wire::Spawn request, std::string user)
    : table_{table},
      pid_{launched.pid},
      request_{std::move(request)},
      user_{std::move(user)},
      cwd_{std::move(launched.cwd)},
      started_ms_{unix_ms()},
      group_{std::move(launched.group)},
      go_{std::move(launched.go)},
      result_{std::move(launched.result)},
      wall_{loop, [this] { wall_time_is_up(); }},
      input_{loop, std::move(launched.input),
             launched.terminal ? ProcessInput::Kind::terminal : ProcessInput::Kind::pipe},
      outputs_{Output{loop, *this, 0}, Output{loop, *this, 1}} {
    outputs_[0].channel = launched.terminal ? wire::ChannelId::pty : wire::ChannelId::stdout_;
    outputs_[1].channel = wire::ChannelId::stderr_;
    outputs_[0].fd = std::move(launched.outputs[0]);
    outputs_[1].fd = std::move(launched.outputs[1]);
    shorten(request_);
    if (!go_) start_wall_timer();
}

Process::~Process() {
    for (const Output& output : outputs_) table_.count_kept(-static_cast<std::ptrdiff_t>(output.kept.size()));
    table_.retire(std::move(group_));
}

wire::ProcessInfo Process::info() const {
    return {.pid = static_cast<std::uint32_t>(pid_),
            .argv = request_.argv,
            .env = request_.env,
            .cwd = cwd_,
            .user = user_,
            .tag = request_.tag,
            .pty = request_.pty.has_value(),
            .exited = leader_ended_,
            .held = held(),
            .started_ms = started_ms_};
}

Status Process::may_attach() const {
    if (input_.pending() <= ProcessInput::kMaxPending - wire::kInitialWindow) return {};
    return refusal(Errc::exhausted, "the process does not read the input that earlier hosts sent");
}

void Process::attach(ProcessStream& stream) {
    if (stream_ != nullptr) {
        ProcessStream* old = stream_;
        detach();
        old->taken_over();
    }
    stream_ = &stream;
    input_.set_sender(&stream);
}

void Process::leave_stream() {
    if (ProcessStream* stream = std::exchange(stream_, nullptr)) stream->forgotten();
}

void Process::forget() {
    table_.forget(*this);
}

void Process::detach() {
    stream_ = nullptr;
    input_.set_sender(nullptr);
    sent_.clear();
    started_sent_ = false;
    end_sent_ = false;
    for (Output& output : outputs_) {
        output.kept.rewind();
        keep(output, {});
    }
    rearm_outputs();
}

void Process::pump() {
    if (stream_ == nullptr) return rearm_outputs();
    if (end_sent_ || !send_started()) return;
    // Turn by turn, so that a flood on one channel does not silence the other.
    while (true) {
        const bool first = send_output(0);
        const bool second = send_output(1);
        if (!first && !second) break;
    }
    if (over_ && outputs_[0].kept.unsent().empty() && outputs_[1].kept.unsent().empty()) return send_end();
    rearm_outputs();
}

bool Process::send_started() {
    if (started_sent_) return true;
    const std::string event = wire::encode(wire::ProcessEvent{
        .started = wire::Started{
            .pid = static_cast<std::uint32_t>(pid_), .started_ms = started_ms_, .dropped_out = dropped_}});
    if (stream_->window() < event.size()) return false;
    stream_->send_event(event);
    note_sent(Sent::kEvent, event.size());
    started_sent_ = true;
    return true;
}

bool Process::send_output(std::size_t index) {
    Output& output = outputs_[index];
    if (output.kept.unsent().empty()) return false;
    const std::size_t chunk = request_.pty ? kTerminalChunk : kPipeChunk;
    const std::string_view bytes = output.kept.unsent().substr(0, std::min(chunk, stream_->window()));
    if (bytes.empty()) return false;
    const std::size_t size = bytes.size();
    stream_->send_data(output.channel, bytes);
    output.kept.mark_sent(size);
    note_sent(index, size);
    return true;
}

void Process::send_end() {
    if (final_.code == 0) {
        const std::string event = wire::encode(wire::ProcessEvent{.exited = exited_});
        if (stream_->window() < event.size()) return;
        stream_->send_event(event);
        note_sent(Sent::kEvent, event.size());
    }
    end_sent_ = true;
    stream_->send_end(final_);
}

void Process::note_sent(std::size_t output, std::size_t bytes) {
    if (!sent_.empty() && sent_.back().output == output) {
        sent_.back().bytes += bytes;
    } else {
        sent_.push_back({output, bytes});
    }
}

void Process::acknowledged(std::size_t bytes) {
    while (bytes > 0 && !sent_.empty()) {
        Sent& oldest = sent_.front();
        const std::size_t part = std::min(bytes, oldest.bytes);
        if (oldest.output != Sent::kEvent) {
            outputs_[oldest.output].kept.acknowledge(part);
            table_.count_kept(-static_cast<std::ptrdiff_t>(part));
        }
        bytes -= part;
        oldest.bytes -= part;
        if (oldest.bytes == 0) sent_.pop_front();
    }
    if (end_sent_ && sent_.empty()) forget();
}

void Process::read_output(std::size_t index) {
    Output& output = outputs_[index];
    const std::size_t chunk = request_.pty ? kTerminalChunk : kPipeChunk;
    char* const buffer = table_.loop().scratch();
    for (int i = 0; i < kChunksPerTurn && output.fd; ++i) {
        // What cannot be sent stays in the pipe and slows the program.
        const std::size_t most = stream_ == nullptr ? chunk : std::min(chunk, stream_->window());
        if (most == 0 || (stream_ != nullptr && !output.kept.unsent().empty())) break;
        const ssize_t got = ::read(output.fd.get(), buffer, most);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) break;
        if (got <= 0) {  // end of file; EIO when nobody has the terminal open any more
            close_output(output);
            check_over();
            break;
        }
        keep(output, {buffer, static_cast<std::size_t>(got)});
        if (stream_ != nullptr && started_sent_) send_output(index);
        if (static_cast<std::size_t>(got) < most) break;
    }
    pump();
}

void Process::keep(Output& output, std::string_view bytes) {
    output.kept.append(bytes);
    table_.count_kept(static_cast<std::ptrdiff_t>(bytes.size()));
    if (stream_ != nullptr) return;
    std::size_t excess = output.kept.size() > kMaxKept ? output.kept.size() - kMaxKept : 0;
    excess = std::min(std::max(excess, table_.kept_over_limit()), output.kept.size());
    output.kept.drop_oldest(excess);
    table_.count_kept(-static_cast<std::ptrdiff_t>(excess));
    dropped_ += excess;
}

void Process::close_output(Output& output) {
    output.readiness.disarm();
    output.fd.reset();
}

void Process::rearm_outputs() {
    for (Output& output : outputs_) {
        if (!output.fd) continue;
        if (stream_ == nullptr || (output.kept.unsent().empty() && stream_->window() > 0)) {
            output.readiness.arm(output.fd.get(), EPOLLIN);
        } else {
            output.readiness.disarm();
        }
    }
}

void Process::cut_outputs() {
    char* const buffer = table_.loop().scratch();
    for (Output& output : outputs_) {
        // A pipe holds 64 KiB; a survivor that goes on writing must not hold us here.
        for (int reads = 0; reads < 4 && output.fd; ++reads) {
            const ssize_t got = ::read(output.fd.get(), buffer, kPipeChunk);
            if (got <= 0) break;
            keep(output, {buffer, static_cast<std::size_t>(got)});
        }
        if (output.fd) close_output(output);
    }
    check_over();
}

void Process::leader_ended(int wait_status, const rusage& usage) {
    leader_ended_ = true;
    go_.reset();
    input_.abandon();
    exited_.exit_code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 0;
    exited_.signal = WIFSIGNALED(wait_status) ? static_cast<std::uint32_t>(WTERMSIG(wait_status)) : 0;
    exited_.ended_ms = unix_ms();
    exited_.user_us = micros(usage.ru_utime);
    exited_.system_us = micros(usage.ru_stime);
    exited_.max_rss_kib = static_cast<std::uint64_t>(usage.ru_maxrss);
    if (result_ && final_.code == 0) final_ = held_failure(result_.get(), request_, cwd_);
    result_.reset();
    // A terminal is over when its session's leader is, like a remote shell's.
    if (end_now_ || request_.pty || final_.code != 0) {
        cut_outputs();
    } else {
        check_over();
    }
    pump();
}

void Process::check_over() {
    if (over_ || !leader_ended_ || outputs_[0].fd || outputs_[1].fd) return;
    over_ = true;
    wall_.stop();
    exited_.tree_cpu_us = group_.cpu_us();
    if (unwanted_) return forget();
    table_.ended(*this);
}

Status Process::signal(std::uint32_t number, bool tree) {
    if (number == 0 || number > static_cast<std::uint32_t>(SIGRTMAX)) {
        return refusal(Errc::invalid_argument, "there is no signal " + std::to_string(number));
    }
    if (over_ || (leader_ended_ && !tree)) {
        return refusal(Errc::not_found, "process with pid " + std::to_string(pid_) + " has ended", ESRCH);
    }
    const bool deadly = number == SIGKILL || number == SIGTERM;
    if (deadly && !leader_ended_) exited_.killed_by_api = true;
    if (deadly && tree) end_now_ = true;
    if (tree) {
        kill_tree(static_cast<int>(number));
    } else {
        ::kill(pid_, static_cast<int>(number));
    }
    if (leader_ended_ && end_now_) {
        cut_outputs();
        pump();
    }
    return {};
}

void Process::kill_tree(int number) {
    if (!group_) {
        signal_tree(pid_, leader_ended_ ? Leader::buried : Leader::there, number);
    } else if (number == SIGKILL) {
        group_.kill();
    } else {
        group_.signal(number);
    }
}

Status Process::release() {
    if (!held()) {
        return refusal(Errc::failed_precondition,
                       "process with pid " + std::to_string(pid_) + " is not held");
    }
    if (::write(go_.get(), "g", 1) != 1) return errno_refusal(errno, "release the process");
    go_.reset();
    start_wall_timer();
    return {};
}

Status Process::refuse_to_run(Status why) {
    if (!held()) {
        return refusal(Errc::failed_precondition,
                       "process with pid " + std::to_string(pid_) + " is not held");
    }
    final_ = std::move(why);
    ::kill(pid_, SIGKILL);
    return {};
}

void Process::abandon_if_held() {
    if (!held()) return;
    unwanted_ = true;
    ::kill(pid_, SIGKILL);
}

Status Process::resize(wire::TermSize size) {
    if (!request_.pty) {
        return refusal(Errc::failed_precondition,
                       "process with pid " + std::to_string(pid_) + " has no terminal");
    }
    if (!outputs_[0].fd) {
        return refusal(Errc::not_found, "process with pid " + std::to_string(pid_) + " has ended", ESRCH);
    }
    return resize_pty(outputs_[0].fd.get(), size);
}

void Process::start_wall_timer() {
    constexpr std::uint64_t kLongest = std::uint64_t{1} << 53;
    if (request_.wall_ms != 0) wall_.start(static_cast<std::int64_t>(std::min(request_.wall_ms, kLongest)));
}

void Process::wall_time_is_up() {
    exited_.timed_out = true;
    end_now_ = true;
    kill_tree(SIGKILL);
    if (!leader_ended_) return;
    cut_outputs();
    pump();
}

}  // namespace oyat::agent
