#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>

#include "core/admission.hpp"
#include "core/command.hpp"
#include "io/task_group.hpp"

namespace oyat::core {

// The processes of one sandbox that an API started: the one place where commands are judged, recorded and
// started.
class ProcessTable final : public Processes {
public:
    ProcessTable(Executor executor, CommandSurroundings around, const SandboxesConfig& config,
                 Admission& admission)
        : around_{std::move(around)},
          config_{config},
          admission_{admission},
          executor_{executor},
          tasks_{executor} {}

    ~ProcessTable() override;

    Task<std::shared_ptr<Process>> start(RunRequest request, Principal who) override;
    [[nodiscard]] std::shared_ptr<Process> find(std::uint32_t pid) const override;
    [[nodiscard]] std::shared_ptr<Process> find_tag(const std::string& tag) const override;
    [[nodiscard]] std::vector<std::shared_ptr<Process>> alive() const override;

    // Takes up all processes that a newly joined agent has, and ends those that it does not have any more.
    // The door is opened only afterwards, so that no new process is taken for a lost one.
    Task<> join(std::shared_ptr<AgentChannel> agent);
    // Ends the streams of all subscribers; the processes stay.
    void interrupt(const Error& error);
    // What ran is recorded as ended; others may be started.
    void lose_all(const std::string& why);
    // The sandbox is over: the same, for good.
    Task<> end(std::string why);
    // Lets go of everything for a restart of oyatd.
    Task<> close();
    // Now and then: forgets what ended 30 s ago, and the output that no first subscriber came for.
    void tidy();

private:
    struct Starting;
    class Ticket;
    static Task<> carry_out(ProcessTable& table, Ticket ticket, RunRequest request, Principal who);
    Task<std::shared_ptr<Command>> begin(RunRequest request, Principal who);
    [[nodiscard]] std::optional<Error> refusal(const RunRequest& request, const Principal& who);
    Task<std::unique_ptr<AgentProcess>> spawn(const RunRequest& request, const std::string& id);
    void run(const std::shared_ptr<Command>& command);
    void add(const std::shared_ptr<Command>& command);
    void retire(const std::shared_ptr<Command>& command);
    void forget_old();
    void let_go_of(const std::string& command);
    Task<> join_one(std::shared_ptr<AgentChannel> agent, AgentProcessInfo info);

    struct Retired {
        MonoTime when;
        std::shared_ptr<Command> command;
    };

    CommandSurroundings around_;
    const SandboxesConfig& config_;
    Admission& admission_;
    Executor executor_;
    bool closed_ = false;
    std::size_t running_ = 0;
    std::size_t terminals_ = 0;  // of the running
    std::map<std::uint32_t, std::shared_ptr<Command>>
        commands_;  // by pid; alive ones and the retired of each pid
    std::deque<Retired> retired_;
    TaskGroup tasks_;  // last: its tasks use the rest
};

}  // namespace oyat::core
