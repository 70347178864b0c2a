#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/agent_channel.hpp"
#include "io/condition.hpp"
#include "io/timer.hpp"

// An agent, played: programs inside that say what the test makes them say, and outlive the channels that look
// at them.
namespace oyat::core {

// One process inside, which outlives the channels that look at it.
struct FakeProgram {
    std::uint32_t pid = 0;
    SpawnOrder order;
    std::deque<std::variant<Output, ExitReport>> says;  // not acknowledged yet
    bool over = false;                                  // nothing comes after what is in `says`
    std::string input;
    bool input_closed = false;
    std::vector<int> signals;
    Condition said;

    void say(std::string bytes, OutputChannel channel = OutputChannel::out) {
        says.emplace_back(Output{.channel = channel, .bytes = std::move(bytes)});
        said.notify_all();
    }
    void exit(int code, int signal = 0) {
        ExitReport report{.exit_code = signal == 0 ? code : -1, .signal = signal};
        report.killed_by_api = !signals.empty();
        end(report);
    }
    void end(ExitReport report) {
        says.emplace_back(report);
        over = true;
        said.notify_all();
    }
};

// What lives in one box: programs, and how its agent behaves.
struct FakeInside {
    bool hello = true;
    bool frozen = false;
    std::optional<Error> spawn_fails;
    bool spawn_is_slow = false;
    bool hello_is_slow = false;
    int greetings = 0;
    std::uint32_t next_pid = 2;
    std::map<std::uint32_t, std::shared_ptr<FakeProgram>> programs;
    std::optional<AgentSetup> setup;
    std::map<std::string, std::string> files;
    int connections = 0;
    std::function<void(std::string)> lose;  // breaks the present connection
    bool breaks_protocol = false;
    std::optional<Error> quiesce_fails;
    bool quiesced = false;
    std::vector<QuiesceRules> quiesces;
    std::vector<Renewal> renewals;

    FakeProgram& program(std::uint32_t pid) { return *programs.at(pid); }
    FakeProgram& latest() { return *programs.rbegin()->second; }
};

class FakeProcess final : public AgentProcess {
public:
    FakeProcess(std::shared_ptr<FakeInside> inside, std::shared_ptr<FakeProgram> program,
                std::shared_ptr<bool> lost)
        : inside_{std::move(inside)}, program_{std::move(program)}, lost_{std::move(lost)} {}
    ~FakeProcess() override {
        if (ended_) inside_->programs.erase(program_->pid);
    }
    [[nodiscard]] std::uint32_t pid() const override { return program_->pid; }
    [[nodiscard]] WallTime started() const override { return from_unix_millis(program_->pid); }
    [[nodiscard]] std::uint64_t dropped_before() const override { return 0; }
    Task<std::optional<std::variant<Output, ExitReport>>> next() override {
        while (true) {
            if (*lost_) throw Error{Errc::unavailable, Fault::agent, "lost"};
            for (; given_ > 0; --given_) program_->says.pop_front();
            if (!program_->says.empty()) break;
            if (program_->over) {
                ended_ = true;
                co_return std::nullopt;
            }
            co_await program_->said.wait();
        }
        given_ = 1;
        co_return program_->says.front();
    }
    [[nodiscard]] Unacknowledged unacknowledged() const override {
        Unacknowledged bytes;
        for (std::size_t i = 0; i < given_; ++i) {
            if (const auto* output = std::get_if<Output>(&program_->says[i]))
                bytes.out += output->bytes.size();
        }
        return bytes;
    }
    Task<> write_input(std::string bytes) override {
        program_->input += bytes;
        co_return;
    }
    Task<> close_input() override {
        program_->input_closed = true;
        co_return;
    }

private:
    std::shared_ptr<FakeInside> inside_;
    std::shared_ptr<FakeProgram> program_;
    std::shared_ptr<bool> lost_;
    std::size_t given_ = 0;
    bool ended_ = false;
};

class FakeSink final : public FileSink {
public:
    FakeSink(std::shared_ptr<FakeInside> inside, std::string path)
        : inside_{std::move(inside)}, path_{std::move(path)} {
        inside_->files[path_].clear();
    }
    Task<> write(std::string_view bytes) override {
        if (bytes == "too much") throw Error{Errc::exhausted, Fault::limit, "write: disk limit reached"};
        inside_->files[path_] += bytes;
        co_return;
    }
    Task<FileEntry> finish() override {
        co_return FileEntry{.path = path_, .type = FileType::file, .size = inside_->files[path_].size()};
    }

private:
    std::shared_ptr<FakeInside> inside_;
    std::string path_;
};

class FakeSource final : public FileSource {
public:
    FakeSource(std::string path, std::string bytes) : bytes_{std::move(bytes)} {
        entry_.path = std::move(path);
        entry_.size = bytes_.size();
    }
    [[nodiscard]] const FileEntry& entry() const override { return entry_; }
    Task<std::string> next() override { co_return std::exchange(bytes_, {}); }

private:
    FileEntry entry_;
    std::string bytes_;
};

class FakeChannel final : public AgentChannel {
public:
    explicit FakeChannel(std::shared_ptr<FakeInside> inside) : inside_{std::move(inside)} {
        ++inside_->connections;
        inside_->lose = [this](std::string why) { lose(std::move(why)); };
    }
    ~FakeChannel() override { *lost_ = true; }

    Task<> hello(std::chrono::milliseconds) override {
        ++inside_->greetings;
        while (inside_->hello_is_slow) co_await yield_now();
        if (!inside_->hello) throw Error{Errc::deadline, Fault::agent, "the agent says nothing"};
        co_return;
    }
    Task<> configure(AgentSetup setup) override {
        inside_->setup = std::move(setup);
        co_return;
    }
    Task<std::unique_ptr<AgentProcess>> spawn(SpawnOrder order) override {
        while (inside_->spawn_is_slow) co_await yield_now();
        if (inside_->spawn_fails) throw Error{*inside_->spawn_fails};
        auto program = std::make_shared<FakeProgram>();
        program->pid = inside_->next_pid++;
        program->order = std::move(order);
        inside_->programs[program->pid] = program;
        co_return std::make_unique<FakeProcess>(inside_, std::move(program), lost_);
    }
    Task<std::unique_ptr<AgentProcess>> attach(std::uint32_t pid) override {
        const auto found = inside_->programs.find(pid);
        if (found == inside_->programs.end()) throw Error{Errc::not_found, "no such process"};
        co_return std::make_unique<FakeProcess>(inside_, found->second, lost_);
    }
    Task<std::vector<AgentProcessInfo>> processes() override {
        std::vector<AgentProcessInfo> all;
        for (const auto& [pid, program] : inside_->programs) {
            all.push_back({.pid = pid, .argv = program->order.argv, .tag = program->order.tag});
        }
        co_return all;
    }
    Task<> signal(std::uint32_t pid, int signal, bool) override {
        inside_->program(pid).signals.push_back(signal);
        co_return;
    }
    Task<> release(std::uint32_t, bool) override { co_return; }
    Task<> resize(std::uint32_t, TermSize) override { co_return; }
    Task<FileEntry> stat(std::string path, std::string) override { co_return entry(std::move(path)); }
    Task<std::unique_ptr<DirListing>> list(std::string, std::string, std::uint32_t) override {
        throw unknown();
    }
    Task<FileEntry> make_dir(std::string path, std::string, std::uint32_t) override {
        co_return FileEntry{.path = std::move(path)};
    }
    Task<FileEntry> move(std::string, std::string destination, std::string) override {
        co_return FileEntry{.path = std::move(destination)};
    }
    Task<> remove(std::string path, std::string, bool) override {
        inside_->files.erase(path);
        co_return;
    }
    Task<FileEntry> compose(std::vector<std::string>, std::string destination, std::string) override {
        co_return FileEntry{.path = std::move(destination)};
    }
    Task<std::unique_ptr<FileSource>> read(std::string path, std::string, std::uint64_t,
                                           std::uint64_t) override {
        const FileEntry there = entry(path);
        co_return std::make_unique<FakeSource>(path, inside_->files.at(there.path));
    }
    Task<std::unique_ptr<FileSink>> write(std::string path, std::string,
                                          std::map<std::string, std::string>) override {
        co_return std::make_unique<FakeSink>(inside_, std::move(path));
    }
    Task<std::unique_ptr<FileWatch>> watch(std::string, std::string, bool, bool, bool) override {
        throw unknown();
    }
    Task<UserFacts> resolve_user(std::string user) override { co_return UserFacts{.name = std::move(user)}; }
    Task<DiskUse> disk_use() override { co_return DiskUse{}; }
    Task<> quiesce(QuiesceRules rules) override {
        inside_->quiesces.push_back(rules);
        if (inside_->quiesce_fails) throw Error{*inside_->quiesce_fails};
        inside_->quiesced = true;
        co_await close();
    }
    Task<Renewed> renew(Renewal renewal) override {
        inside_->renewals.push_back(std::move(renewal));
        inside_->quiesced = false;
        co_return Renewed{.reseeded = true, .clock_set = true, .host_named = true};
    }
    void on_lost(std::function<void(std::string)> handler) override { on_lost_ = std::move(handler); }
    [[nodiscard]] bool broke_protocol() const override { return inside_->breaks_protocol; }
    void set_frozen(bool frozen) override { inside_->frozen = frozen; }
    Task<> close() override {
        on_lost_ = {};
        lose("closed");
        co_return;
    }

private:
    static Error unknown() { return Error{Errc::not_found, "no such path"}; }
    FileEntry entry(std::string path) {
        const auto found = inside_->files.find(path);
        if (found == inside_->files.end()) throw unknown();
        return {.path = std::move(path), .size = found->second.size()};
    }
    void lose(std::string why) {
        *lost_ = true;
        for (const auto& [pid, program] : inside_->programs) program->said.notify_all();
        if (auto handler = std::exchange(on_lost_, {})) handler(std::move(why));
    }

    std::shared_ptr<FakeInside> inside_;
    std::shared_ptr<bool> lost_ = std::make_shared<bool>(false);
    std::function<void(std::string)> on_lost_;
};

}  // namespace oyat::core
