#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/agent_door.hpp"
#include "core/fan_out.hpp"
#include "core/install_watch.hpp"
#include "core/limit_watch.hpp"
#include "core/masked_output.hpp"
#include "core/output_record.hpp"
#include "core/process.hpp"
#include "core/secrets_control.hpp"
#include "core/signals.hpp"
#include "io/timer.hpp"

namespace oyat::core {

// What a command of a sandbox needs around it; the process table's, which outlives every task of its
// commands.
struct CommandSurroundings {
    const SandboxRecord& record;
    const Clock& clock;
    EventBus& events;
    Masks& masks;
    Keeper& keeper;
    LimitWatch& limits;
    Suspicion& suspicion;
    std::shared_ptr<AgentDoor> door;
    TextBudget& texts;
    Executor executor;
    InstallWatch& installs;
    SecretsControl* secrets = nullptr;  // null: there are none
};

// One process that was started through an API: its output goes to the record and to the subscribers, its end
// is explained. One pump runs for it at a time, in the table's group; the rest may be called by anybody who
// holds it.
class Command final : public Process {
public:
    // `joined`: found running after a restart, so the record has only a part of it.
    Command(CommandSurroundings& around, RunRequest request, std::string requested_event, bool joined);

    [[nodiscard]] std::uint32_t pid() const override { return pid_; }
    // The id of command.requested, by which the record and its placeholders know it.
    [[nodiscard]] const std::string& requested_event() const { return requested_event_; }
    [[nodiscard]] const RunRequest& request() const override { return request_; }
    [[nodiscard]] WallTime started() const override { return started_; }
    [[nodiscard]] std::optional<ProcessEnd> end() const override { return end_; }
    [[nodiscard]] std::unique_ptr<Subscription> subscribe() override { return outputs_->subscribe(); }
    Task<> write_input(std::string bytes) override;
    Task<> close_input() override;
    Task<> resize(TermSize size) override;
    Task<> signal(int signal) override;

    // Takes the agent's end of it, at the start and again when the agent was joined anew.
    void connect(std::unique_ptr<AgentProcess> agent);
    // Emits command.started.
    void note_started();
    // Moves output until the process has ended, when `ended` is called, or the agent is lost. Returns when
    // the end has been taken by a subscriber too.
    static Task<> pump(std::shared_ptr<Command> self, std::function<void()> ended);
    // The end of one whose agent will not report it any more: its sandbox ended, or the agent knows nothing
    // of it.
    void lost(const std::string& why);
    void interrupt(const Error& error) { outputs_->interrupt(error); }
    // Its end has been kept for subscribers long enough.
    void forget() {
        interrupt(Error{Errc::not_found, "process with pid " + std::to_string(pid_) + " not found"});
    }
    // Lets go of the agent's end without a word: for a restart of oyatd.
    void disconnect();

    [[nodiscard]] MonoTime since() const { return since_; }
    [[nodiscard]] bool joined() const { return joined_; }
    void stop_holding() { outputs_->stop_holding(); }
    // Kills the whole tree, when the agent has not done so in time.
    static Task<> out_of_time(std::shared_ptr<Command> self);
    // Calls `late` a little after the wall limit, if there is one.
    void guard_wall(Executor executor, std::function<void()> late);

private:
    // True at the end of the process, false when it was connected anew meanwhile and another pump has taken
    // over.
    static Task<bool> move_output(std::shared_ptr<Command> self, std::shared_ptr<AgentProcess> agent);
    void take(Output output);
    void show(OutputChannel channel, std::string bytes);
    void show_rest(std::string (MaskedOutput::*rest)(OutputChannel));
    Task<> explain();
    Event exited_event(Witness by);
    void conclude();

    struct Recording {
        explicit Recording(const CommandSurroundings& around)
            : out{around.texts},
              err{around.texts},
              masked{around.masks, around.record.id, &Masks::from_record} {}
        OutputRecord out;
        OutputRecord err;
        MaskedOutput masked;
    };
    void add_output(Event& event);

    CommandSurroundings& around_;  // gone with the table, as the door being shut shows
    const RunRequest request_;
    const std::string requested_event_;
    const bool joined_;
    std::shared_ptr<AgentDoor> door_;
    std::shared_ptr<FanOut> outputs_ = std::make_shared<FanOut>();  // shared with subscriptions
    std::shared_ptr<AgentProcess>
        agent_;  // shared with a call that is writing input; null when not connected
    std::uint32_t pid_ = 0;
    WallTime started_{};
    MonoTime since_;
    LimitWatch::Mark mark_;
    std::optional<Recording> recording_;  // until the end
    MaskedOutput shown_;                  // to clients
    Timer release_;
    std::uint64_t stdin_bytes_ = 0;
    std::uint64_t dropped_ = 0;
    AgentProcess::Unacknowledged repeated_;  // what the agent is about to give once more
    bool input_open_ = true;
    bool writing_ = false;
    Condition written_;
    std::optional<ExitReport> report_;
    std::string limit_;
    bool out_of_time_ = false;
    std::optional<ProcessEnd> end_;
    std::optional<Timer> wall_;
};

}  // namespace oyat::core
