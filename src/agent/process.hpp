#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "agent/kept_output.hpp"
#include "agent/launch.hpp"
#include "agent/loop.hpp"
#include "agent/process_input.hpp"
#include "agent/status.hpp"
#include "wire/agent_messages.hpp"
#include "wire/frame.hpp"

namespace oyat::agent {

class ProcessStream;
class ProcessTable;

// A program that the agent started, from its start until a host has acknowledged its end. It belongs to the
// sandbox, not to a stream: with a stream attached its output goes there as credit allows and otherwise stays
// in the pipe; with none the latest output is kept.
class Process final : public Mortal {
public:
    static constexpr std::size_t kMaxKept = 1024 * 1024;  // of one channel, while nobody is attached

    Process(Loop& loop, ProcessTable& table, Launched launched, wire::Spawn request, std::string user);
    ~Process() override;

    [[nodiscard]] pid_t pid() const { return pid_; }
    [[nodiscard]] bool held() const { return static_cast<bool>(go_) && !leader_ended_; }
    [[nodiscard]] bool leader_has_ended() const { return leader_ended_; }
    [[nodiscard]] wire::ProcessInfo info() const;

    [[nodiscard]] Status may_attach() const;
    // Takes the process over from the stream that had it.
    void attach(ProcessStream& stream);
    void detach();
    // Sends what may be sent and reads what may be read.
    void pump();
    void acknowledged(std::size_t bytes);

    void input(std::string_view bytes) { input_.write(bytes); }
    void close_input() { input_.close(); }

    [[nodiscard]] Status signal(std::uint32_t number, bool tree);
    [[nodiscard]] Status release();
    // Ends a held process that has not run.
    [[nodiscard]] Status refuse_to_run(Status why);
    // The host that could have released it is not interested any more.
    void abandon_if_held();
    [[nodiscard]] Status resize(wire::TermSize size);

    // The host has heard all there is.
    void forget();

    // From the table.
    void leader_ended(int wait_status, const rusage& usage);
    void leave_stream();

private:
    // One of the program's outputs.
    struct Output {
        Output(Loop& loop, Process& process, std::size_t index)
            : readiness{loop, [&process, index](std::uint32_t) { process.read_output(index); }} {}

        wire::ChannelId channel = wire::ChannelId::none;
        Fd fd;
        Readiness readiness;
        KeptOutput kept;
    };
    // Bytes sent and not acknowledged yet: of an output, or of an event.
    struct Sent {
        static constexpr std::size_t kEvent = 2;
        std::size_t output = kEvent;
        std::size_t bytes = 0;
    };

    bool send_started();
    bool send_output(std::size_t index);
    void send_end();
    void note_sent(std::size_t output, std::size_t bytes);
    void read_output(std::size_t index);
    void keep(Output& output, std::string_view bytes);
    void close_output(Output& output);
    void rearm_outputs();
    // Ends the outputs although somebody may still hold their other ends. What is in them now is kept.
    void cut_outputs();
    void check_over();
    void kill_tree(int number);
    void start_wall_timer();
    void wall_time_is_up();

    ProcessTable& table_;
    pid_t pid_;
    wire::Spawn request_;
    std::string user_;
    std::string cwd_;
    std::int64_t started_ms_;
    CommandGroup group_;
    Fd go_;
    Fd result_;
    Timer wall_;
    ProcessInput input_;
    std::array<Output, 2> outputs_;

    ProcessStream* stream_ = nullptr;
    std::deque<Sent> sent_;
    bool started_sent_ = false;
    bool end_sent_ = false;

    bool leader_ended_ = false;
    bool over_ = false;      // ended, and no output will come any more
    bool unwanted_ = false;  // nobody will ask how it ended
    bool end_now_ = false;   // with the leader, whoever still holds its outputs
    wire::Exited exited_;
    Status final_;  // how the stream ends; without an Exited when it is no success
    std::uint64_t dropped_ = 0;
};

}  // namespace oyat::agent
