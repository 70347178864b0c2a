#include "core/command.hpp"

#include <signal.h>

#include <algorithm>
#include <utility>

#include "base/defer.hpp"
#include "core/json_text.hpp"
#include "core/record_fields.hpp"

namespace oyat::core {
namespace {

using namespace std::chrono_literals;

constexpr Millis kCountersLimit = 250ms;  // for the keeper to say why a command may have failed
constexpr Millis kWallGrace = 1500ms;     // for the agent to end what is out of time

boost::json::value null_or(std::string_view text) {
    if (text.empty()) return nullptr;
    return boost::json::string{text};
}

// As a terminal's Ctrl-C: a shell that is asked alone would leave behind, or wait for, what it started.
bool reaches_all(int signal) {
    return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGQUIT ||
           signal == SIGHUP;
}

}  // namespace

Command::Command(CommandSurroundings& around, RunRequest request, std::string requested_event, bool joined)
    : around_{around},
      request_{std::move(request)},
      requested_event_{std::move(requested_event)},
      joined_{joined},
      door_{around.door},
      since_{around.clock.mono()},
      mark_{around.limits.mark()},
      shown_{around.masks, around.record.id, &Masks::from_clients},
      release_{around.executor, [this] { show_rest(&MaskedOutput::release); }} {
    recording_.emplace(around);
}

// --- calls of clients -------------------------------------------------------------------------------------

Task<> Command::write_input(std::string bytes) {
    if (!request_.stdin_open && !request_.pty) {
        throw Error{Errc::failed_precondition,
                    "process " + std::to_string(pid_) + " was started without an input"};
    }
    while (writing_) co_await written_.wait();
    if (!input_open_ || end_) {
        throw Error{Errc::failed_precondition, "the input of process " + std::to_string(pid_) + " is closed"};
    }
    const std::shared_ptr<AgentProcess> agent = agent_;
    if (!agent) throw Error{Errc::unavailable, Fault::agent, "the sandbox's agent is being joined again"};
    writing_ = true;
    const Defer done{[&] {
        writing_ = false;
        written_.notify_one();
    }};
    stdin_bytes_ += bytes.size();
    co_await agent->write_input(std::move(bytes));
}

Task<> Command::close_input() {
    if (request_.pty) {
        throw Error{Errc::failed_precondition, "the input of a terminal can't be closed; send it Ctrl-D"};
    }
    while (writing_) co_await written_.wait();
    if (!std::exchange(input_open_, false)) co_return;
    if (const std::shared_ptr<AgentProcess> agent = agent_) co_await agent->close_input();
}

Task<> Command::resize(TermSize size) {
    if (!request_.pty) {
        throw Error{Errc::failed_precondition, "process " + std::to_string(pid_) + " has no terminal"};
    }
    const std::shared_ptr<AgentChannel> agent = door_->channel();
    co_await agent->resize(pid_, size);
}

Task<> Command::signal(int signal) {
    if (end_) throw Error{Errc::not_found, "process with pid " + std::to_string(pid_) + " has ended"};
    const std::shared_ptr<AgentChannel> agent = door_->channel();
    Event event = sandbox_event(around_.record, "command.signalled");
    event.fields["command"] = requested_event_;
    event.fields["pid"] = pid_;
    event.fields["signal"] = signal;
    around_.events.emit(std::move(event));
    co_await agent->signal(pid_, signal, reaches_all(signal));
}

// --- from start to end ------------------------------------------------------------------------------------

void Command::connect(std::unique_ptr<AgentProcess> agent) {
    pid_ = agent->pid();
    started_ = agent->started();
    dropped_ += agent->dropped_before();
    if (agent_) repeated_ = agent_->unacknowledged();
    agent_ = std::move(agent);
}

void Command::note_started() {
    Event event = sandbox_event(around_.record, "command.started", Witness::agent);
    event.fields["command"] = requested_event_;
    event.fields["pid"] = pid_;
    emit_or_log(around_.events, std::move(event));  // it runs, and its request is in the record
}

void Command::guard_wall(Executor executor, std::function<void()> late) {
    if (!request_.wall || request_.wall->count() == 0) return;
    wall_.emplace(std::move(executor), std::move(late));
    wall_->arm(*request_.wall + kWallGrace);
}

Task<> Command::out_of_time(std::shared_ptr<Command> self) {
    self->out_of_time_ = true;
    const std::shared_ptr<AgentChannel> agent = self->door_->channel();
    co_await agent->signal(self->pid_, SIGKILL, true);
}

Task<bool> Command::move_output(std::shared_ptr<Command> self, std::shared_ptr<AgentProcess> agent) {
    while (auto event = co_await agent->next()) {
        if (self->agent_ != agent) co_return false;
        if (auto* report = std::get_if<ExitReport>(&*event)) {
            self->report_ = *report;
            continue;
        }
        self->take(std::move(std::get<Output>(*event)));
        co_await self->outputs_->settled();
        if (self->agent_ != agent) co_return false;
    }
    co_return true;
}

void Command::take(Output output) {
    const bool is_err = output.channel == OutputChannel::err;
    std::uint64_t& repeated = is_err ? repeated_.err : repeated_.out;
    if (const auto known = std::min<std::uint64_t>(repeated, output.bytes.size()); known > 0) {
        repeated -= known;
        output.bytes.erase(0, known);
    }
    if (output.bytes.empty()) return;
    around_.suspicion.show_life(around_.clock.mono());
    (is_err ? recording_->err : recording_->out).add(recording_->masked.feed(output.channel, output.bytes));
    if (shown_.passes_all()) return outputs_->publish(std::move(output));
    show(output.channel, shown_.feed(output.channel, output.bytes));
    if (shown_.holds_little() && !release_.armed()) release_.arm(MaskedOutput::kHoldBack);
}

void Command::show(OutputChannel channel, std::string bytes) {
    if (!bytes.empty()) outputs_->publish({.channel = channel, .bytes = std::move(bytes)});
}

// What was held back goes out: for a while it was little, or nothing comes any more.
void Command::show_rest(std::string (MaskedOutput::*rest)(OutputChannel)) {
    const OutputChannel first = request_.pty ? OutputChannel::pty : OutputChannel::out;
    for (const OutputChannel channel : {first, OutputChannel::err}) show(channel, (shown_.*rest)(channel));
}

Task<> Command::pump(std::shared_ptr<Command> self, std::function<void()> ended) {
    const std::shared_ptr<AgentProcess> agent = self->agent_;
    try {
        if (!co_await move_output(self, agent)) co_return;
    } catch (const Error& e) {
        if (e.code() == Errc::canceled) throw;
        // The table joins it again, or ends it.
        if (e.code() == Errc::unavailable || self->agent_ != agent) co_return;
        self->lost(e.message());
        ended();
        co_return;
    }
    co_await self->explain();
    if (self->end_) co_return;  // its sandbox was put on disk meanwhile
    self->conclude();
    ended();
    // The agent forgets the process when it is let go, so not before somebody has seen the end or all have
    // had time to.
    co_await self->outputs_->settled();
    self->agent_.reset();
}

// Finds the limit behind a failure: the host's counters know, the agent is not asked.
Task<> Command::explain() {
    if (report_->timed_out || out_of_time_) {
        report_->timed_out = true;
        limit_ = "wall";
        co_return;
    }
    if (report_->exit_code == 0 || report_->killed_by_api) co_return;
    try {
        const auto usage = co_await with_timeout(kCountersLimit, "the keeper counts",
                                                 around_.keeper.usage({around_.record.id}));
        for (const BoxUsage& each : usage) around_.limits.observe(each);
    } catch (const Error& e) {
        if (e.code() == Errc::canceled) throw;
    }
    limit_ = around_.limits.behind(mark_, *report_, pid_);
}

Event Command::exited_event(Witness by) {
    Event event = sandbox_event(around_.record, "command.exited", by);
    event.fields["command"] = requested_event_;
    event.fields["argv"] = json_texts(request_.argv);
    event.fields["pid"] = pid_;
    event.fields["started"] = to_rfc3339(started_);
    event.fields["duration_ms"] = std::chrono::duration_cast<Millis>(around_.clock.mono() - since_).count();
    event.fields["stdin_bytes"] = stdin_bytes_;
    add_output(event);
    // Output before the restart is in no record; its reader had it.
    if (joined_) event.fields["since_restart"] = true;
    if (dropped_ > 0) event.fields["dropped_bytes"] = dropped_;
    recording_.reset();
    return event;
}

// With what was hidden from it, which an event of its own tells to those who watch for that.
void Command::add_output(Event& event) {
    MaskedOutput& masked = recording_->masked;
    recording_->out.add(masked.finish(OutputChannel::out));
    recording_->err.add(masked.finish(OutputChannel::err));
    const masking::Tally tally = masked.tally();
    boost::json::object by_secret;
    for (const auto& [name, count] : tally.by_name) by_secret[json_text(name)] = count;
    boost::json::object masking{
        {"count", tally.count}, {"by_secret", std::move(by_secret)}, {"partial", tally.partial}};
    if (tally.count > 0) {
        Event applied = sandbox_event(around_.record, "mask.applied");
        applied.fields = masking;
        applied.fields["command"] = requested_event_;
        emit_or_log(around_.events, std::move(applied));
    }
    event.fields["masking"] = std::move(masking);
    event.fields[request_.pty ? "pty" : "stdout"] = recording_->out.finish();
    if (!request_.pty) event.fields["stderr"] = recording_->err.finish();
}

void Command::conclude() {
    wall_.reset();
    release_.disarm();
    show_rest(&MaskedOutput::finish);
    ProcessEnd end{.exit_code = report_->exit_code,
                   .signal = report_->signal,
                   .timed_out = report_->timed_out,
                   .oom = limit_ == "memory",
                   .limit = limit_};
    if (!limit_.empty()) {
        end.fault = Fault::limit;
    } else if (report_->killed_by_api) {
        end.fault = Fault::client;
    } else if (end.exit_code != 0) {
        end.fault = Fault::command;
    }

    Event event = exited_event(Witness::agent);
    event.fault = end.fault;
    event.fields["exit"] = nullptr;
    event.fields["signal"] = nullptr;
    if (end.signal == 0) {
        event.fields["exit"] = end.exit_code;
    } else {
        event.fields["signal"] = end.signal;
    }
    event.fields["timed_out"] = end.timed_out;
    event.fields["oom"] = end.oom;
    event.fields["limit"] = null_or(end.limit);
    event.fields["killed_by_api"] = report_->killed_by_api;
    event.fields["ended"] = to_rfc3339(report_->ended);
    event.fields["resources"] = {{"user_us", report_->user_us},
                                 {"system_us", report_->system_us},
                                 {"tree_cpu_us", report_->tree_cpu_us},
                                 {"max_rss_kib", report_->max_rss_kib}};
    end.event_id = emit_or_log(around_.events, std::move(event));
    end_ = end;
    outputs_->finish(std::move(end));
}

void Command::lost(const std::string& why) {
    if (end_) return;
    wall_.reset();
    release_.disarm();
    show_rest(&MaskedOutput::finish);
    Event event = exited_event(Witness::host);
    for (const char* unknown : {"exit", "signal", "limit"}) event.fields[unknown] = nullptr;
    event.fields["timed_out"] = out_of_time_;
    event.fields["oom"] = false;
    event.fields["sentence"] = json_text(why);
    end_ = ProcessEnd{.exit_code = -1, .timed_out = out_of_time_, .fault = Fault::agent};
    end_->event_id = emit_or_log(around_.events, std::move(event));
    outputs_->interrupt(Error{Errc::unavailable, Fault::agent, why});
    agent_.reset();
}

void Command::disconnect() {
    wall_.reset();
    release_.disarm();
    show_rest(&MaskedOutput::finish);
    recording_.reset();
    outputs_->interrupt(Error{Errc::unavailable, Fault::engine, "oyatd is being restarted"});
    agent_.reset();
}

}  // namespace oyat::core
