#include "core/process_table.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/command_request.hpp"
#include "core/json_text.hpp"
#include "core/record_fields.hpp"
#include "core/secret_variables.hpp"

namespace oyat::core {
namespace {

using namespace std::chrono_literals;

constexpr auto kRetiredKept = 30s;
constexpr std::size_t kMaxRetired = 1024;
constexpr auto kFirstLook = 10s;  // for the first subscriber of a fresh process to come

// Reads a process whose end we have recorded already to that end, so that the agent may forget it.
Task<> drain(std::unique_ptr<AgentProcess> process) {
    while (co_await process->next()) {
    }
}

}  // namespace

// Where the caller of start() waits. The start itself goes on when the caller is gone: a process belongs to
// its sandbox, not to a request.
struct ProcessTable::Starting {
    std::shared_ptr<Process> process;
    std::exception_ptr error;
    Condition done;
};

// Held by the task of a start; tells the caller however the task ends, also when it never ran.
class ProcessTable::Ticket {
public:
    explicit Ticket(std::shared_ptr<Starting> starting) : starting_{std::move(starting)} {}
    Ticket(Ticket&&) noexcept = default;
    Ticket& operator=(Ticket&&) = delete;
    ~Ticket() {
        if (!starting_) return;
        if (!starting_->process && !starting_->error) {
            starting_->error = std::make_exception_ptr(
                Error{Errc::unavailable, Fault::client, "the sandbox ended before the command had started"});
        }
        starting_->done.notify_all();
    }
    [[nodiscard]] Starting& operator*() const { return *starting_; }

private:
    std::shared_ptr<Starting> starting_;
};

ProcessTable::~ProcessTable() {
    for (const auto& [pid, command] : commands_) command->disconnect();
}

Task<std::shared_ptr<Process>> ProcessTable::start(RunRequest request, Principal who) {
    if (closed_) throw Error{Errc::unavailable, Fault::client, "the sandbox has ended"};
    const auto starting = std::make_shared<Starting>();
    tasks_.spawn(carry_out(*this, Ticket{starting}, std::move(request), std::move(who)));
    while (!starting->process && !starting->error) co_await starting->done.wait();
    if (starting->error) std::rethrow_exception(starting->error);
    co_return starting->process;
}

Task<> ProcessTable::carry_out(ProcessTable& table, Ticket ticket, RunRequest request, Principal who) {
    try {
        (*ticket).process = co_await table.begin(std::move(request), std::move(who));
    } catch (const Error& e) {
        if (e.code() == Errc::canceled) throw;
        (*ticket).error = std::current_exception();
    }
    (*ticket).done.notify_all();
}

std::optional<Error> ProcessTable::refusal(const RunRequest& request, const Principal& who) {
    if (std::optional<Error> wrong = malformed(request)) return wrong;
    const auto full = [](std::uint32_t limit, std::string_view what) {
        return Error{
            Errc::exhausted, Fault::limit,
            "limit of " + std::to_string(limit) + " " + std::string{what} + " in one sandbox reached"};
    };
    if (running_ >= config_.max_commands) return full(config_.max_commands, "commands at once");
    if (request.pty && terminals_ >= config_.max_ptys) return full(config_.max_ptys, "terminals at once");
    try {
        admission_.start_command(who.key_id.empty() ? around_.record.key_id : who.key_id);
    } catch (const Error& e) {
        return e;
    }
    return std::nullopt;
}

Task<std::shared_ptr<Command>> ProcessTable::begin(RunRequest request, Principal who) {
    around_.masks.learn(around_.record.id, secrets_in(request.env));
    const std::optional<Error> denied = refusal(request, who);
    Event requested = requested_event(around_.record, request, who);
    requested.fields["verdict"] = {{"action", denied ? "deny" : "allow"},
                                   {"rule", denied ? "limits" : "default"}};
    const std::string id = around_.events.emit(std::move(requested));
    // How it came to nothing, recorded; to be thrown.
    const auto failure = [&](const char* type, const Error& error) {
        Event event = sandbox_event(around_.record, type);
        event.fields["command"] = id;
        event.fields["argv"] = json_texts(request.argv);
        const Error shown = around_.masks.hide(around_.record.id, error);
        add_failure(event, shown);
        return Error{shown}.recorded_as(emit_or_log(around_.events, std::move(event)));
    };
    if (denied) throw failure("command.denied", *denied);
    // From here on the command's placeholders are alive; they die with it, or with its failure.
    if (around_.secrets != nullptr) {
        for (auto& [name, value] : around_.secrets->for_command(around_.record.id, id, request.argv)) {
            request.forced_env[name] = value;
        }
    }

    std::unique_ptr<AgentProcess> agent;
    std::optional<Error> failed;
    try {
        co_await around_.installs.command_starts(id, request.argv);
        agent = co_await spawn(request, id);
    } catch (const Error& e) {
        if (e.code() == Errc::canceled) throw;
        failed = e;
    }
    if (failed) {
        let_go_of(id);
        throw failure("command.failed", *failed);
    }

    auto command = std::make_shared<Command>(around_, std::move(request), id, false);
    command->connect(std::move(agent));
    add(command);
    command->guard_wall(executor_, [this, weak = std::weak_ptr{command}] {
        if (const auto late = weak.lock()) tasks_.spawn(Command::out_of_time(late));
    });
    command->note_started();
    run(command);
    co_return command;
}

Task<std::unique_ptr<AgentProcess>> ProcessTable::spawn(const RunRequest& request, const std::string& id) {
    SpawnOrder order{.argv = request.argv,
                     .env = request.env,
                     .forced_env = request.forced_env,
                     .cwd = request.cwd,
                     .user = request.user,
                     .pty = request.pty,
                     .stdin_open = request.stdin_open,
                     .wall = request.wall.value_or(Millis{0}),
                     .tag = write_mark({.command = id, .tag = request.tag})};
    const std::shared_ptr<AgentChannel> agent = around_.door->channel();
    try {
        co_return co_await agent->spawn(std::move(order));
    } catch (const Error& e) {
        const bool memory = e.limit() == "memory";
        if (!memory && e.limit() != "processes") throw;  // descriptors, terminals: the agent names them
        around_.limits.hit(e.limit(), Witness::agent);
        const Limits& limits = around_.record.limits;
        throw Error{Errc::exhausted, Fault::limit,
                    memory
                        ? "memory limit reached (" + in_words(limits.memory_bytes) + "): " + e.message()
                        : "process limit reached (" + std::to_string(limits.processes) + "): " + e.message()};
    }
}

void ProcessTable::run(const std::shared_ptr<Command>& command) {
    tasks_.spawn(Command::pump(command, [this, command] { retire(command); }));
}

void ProcessTable::add(const std::shared_ptr<Command>& command) {
    commands_[command->pid()] = command;
    ++running_;
    if (command->request().pty) ++terminals_;
}

void ProcessTable::retire(const std::shared_ptr<Command>& command) {
    --running_;
    if (command->request().pty) --terminals_;
    let_go_of(command->requested_event());
    retired_.push_back({.when = around_.clock.mono(), .command = command});
    forget_old();
}

void ProcessTable::let_go_of(const std::string& command) {
    around_.installs.command_ended(command);
    if (around_.secrets != nullptr) around_.secrets->command_ended(around_.record.id, command);
}

void ProcessTable::forget_old() {
    const MonoTime now = around_.clock.mono();
    while (!retired_.empty() &&
           (now - retired_.front().when >= kRetiredKept || retired_.size() > kMaxRetired)) {
        const auto found = commands_.find(retired_.front().command->pid());
        // The pid may be another process's by now.
        if (found != commands_.end() && found->second == retired_.front().command) commands_.erase(found);
        retired_.front().command->forget();
        retired_.pop_front();
    }
}

void ProcessTable::tidy() {
    forget_old();
    const MonoTime now = around_.clock.mono();
    for (const auto& [pid, command] : commands_) {
        if (!command->joined() && now - command->since() > kFirstLook) command->stop_holding();
    }
}

std::shared_ptr<Process> ProcessTable::find(std::uint32_t pid) const {
    const auto found = commands_.find(pid);
    return found == commands_.end() ? nullptr : found->second;
}

std::shared_ptr<Process> ProcessTable::find_tag(const std::string& tag) const {
    std::shared_ptr<Process> ended;
    for (const auto& [pid, command] : commands_) {
        if (command->request().tag != tag) continue;
        if (!command->end()) return command;
        ended = command;
    }
    return ended;
}

std::vector<std::shared_ptr<Process>> ProcessTable::alive() const {
    std::vector<std::shared_ptr<Process>> all;
    for (const auto& [pid, command] : commands_) {
        if (!command->end()) all.push_back(command);
    }
    return all;
}

Task<> ProcessTable::join(std::shared_ptr<AgentChannel> agent) {
    const std::vector<AgentProcessInfo> there = co_await agent->processes();
    std::set<std::uint32_t> pids;
    for (const AgentProcessInfo& info : there) {
        if (!info.held && pids.insert(info.pid).second) co_await join_one(agent, info);
        if (closed_) co_return;
    }
    std::vector<std::shared_ptr<Command>> lost;
    for (const auto& [pid, command] : commands_) {
        if (command->end() || pids.contains(pid)) continue;
        command->lost("it had ended while the sandbox's agent was away");
        lost.push_back(command);
    }
    for (const auto& command : lost) retire(command);
}

Task<> ProcessTable::join_one(std::shared_ptr<AgentChannel> agent, AgentProcessInfo info) {
    const auto found = commands_.find(info.pid);
    std::shared_ptr<Command> command = found == commands_.end() ? nullptr : found->second;
    std::unique_ptr<AgentProcess> process;
    try {
        process = co_await agent->attach(info.pid);
    } catch (const Error& e) {
        if (e.code() != Errc::not_found) throw;
        co_return;  // it ended and was forgotten in this moment
    }
    if (closed_) co_return;
    if (command && command->end() && command->started() == process->started()) {
        tasks_.spawn(drain(std::move(process)));
        co_return;
    }
    if (command && !command->end()) {
        command->connect(std::move(process));
        run(command);
        co_return;
    }
    MarkedTag mark = read_mark(info.tag);
    RunRequest request{.argv = std::move(info.argv),
                       .env = std::move(info.env),
                       .cwd = std::move(info.cwd),
                       .user = std::move(info.user),
                       .stdin_open = true,  // as far as we know; the agent says no if not
                       .tag = std::move(mark.tag)};
    if (info.pty) request.pty = TermSize{};
    around_.masks.learn(around_.record.id, secrets_in(request.env));
    if (around_.secrets != nullptr) {
        (void)around_.secrets->for_command(around_.record.id, mark.command, request.argv);
    }
    around_.installs.command_found(mark.command, request.argv);
    command = std::make_shared<Command>(around_, std::move(request), std::move(mark.command), true);
    command->connect(std::move(process));
    add(command);
    run(command);
}

void ProcessTable::interrupt(const Error& error) {
    for (const auto& [pid, command] : commands_) command->interrupt(error);
}

void ProcessTable::lose_all(const std::string& why) {
    std::vector<std::shared_ptr<Command>> lost;
    for (const auto& [pid, command] : commands_) {
        if (!command->end()) lost.push_back(command);
    }
    for (const auto& command : lost) {
        command->lost(why);
        retire(command);
    }
}

Task<> ProcessTable::end(std::string why) {
    closed_ = true;
    co_await tasks_.close();
    for (const auto& [pid, command] : commands_) command->lost(why);
    interrupt(Error{Errc::unavailable, Fault::client, why});
    commands_.clear();
    retired_.clear();
}

Task<> ProcessTable::close() {
    closed_ = true;
    co_await tasks_.close();
    for (const auto& [pid, command] : commands_) command->disconnect();
    commands_.clear();
    retired_.clear();
}

}  // namespace oyat::core
