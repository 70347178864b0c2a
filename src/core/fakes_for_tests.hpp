#pragma once

#include <fcntl.h>

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/id.hpp"
#include "base/throwing.hpp"
#include "core/make_sandboxes.hpp"
#include "io/condition.hpp"
#include "io/timer.hpp"

// The ports of core, played: each fake does what the real one promises, remembers what it was asked, and
// fails when the test says so.
namespace oyat::core {

class FakeClock final : public Clock {
public:
    [[nodiscard]] WallTime wall() const override { return wall_; }
    [[nodiscard]] MonoTime mono() const override { return mono_; }
    void pass(std::chrono::nanoseconds time) {
        mono_ += time;
        wall_ += std::chrono::duration_cast<WallTime::duration>(time);
    }
    void jump_wall(std::chrono::nanoseconds time) {
        wall_ += std::chrono::duration_cast<WallTime::duration>(time);
    }

private:
    WallTime wall_ = std::chrono::system_clock::now();
    MonoTime mono_ = std::chrono::steady_clock::now();
};

class FakeLog final : public AuditLog {
public:
    void append(const Event& event) override {
        if (refuses) throw Error{Errc::unavailable, Fault::oyat_operator, "the record is full"};
        events.push_back(event);
    }
    [[nodiscard]] const Event* last(std::string_view type) const {
        for (auto each = events.rbegin(); each != events.rend(); ++each) {
            if (each->type == type) return &*each;
        }
        return nullptr;
    }
    [[nodiscard]] std::size_t count(std::string_view type) const {
        std::size_t n = 0;
        for (const Event& each : events) n += each.type == type ? 1 : 0;
        return n;
    }
    bool refuses = false;
    std::vector<Event> events;
};

class FakeStore final : public Store {
public:
    Task<> save(SandboxRecord record) override {
        if (fails) throw Error{Errc::unavailable, Fault::oyat_operator, "the store is full"};
        records[record.id] = std::move(record);
        co_return;
    }
    Task<std::vector<SandboxRecord>> load() override {
        std::vector<SandboxRecord> all;
        for (const auto& [id, record] : records) all.push_back(record);
        co_return all;
    }
    Task<> forget(std::string id) override {
        records.erase(id);
        co_return;
    }
    Task<> save_key(KeyRecord) override { co_return; }
    Task<std::vector<KeyRecord>> load_keys() override { co_return std::vector<KeyRecord>{}; }
    bool fails = false;
    std::map<std::string, SandboxRecord> records;
};

class FakeEgress final : public EgressControl {
public:
    void attach(std::string sandbox, std::string, EgressSockets sockets, EgressPolicy policy) override {
        if (!sockets.tcp || !sockets.dns_udp || !sockets.dns_tcp) throw Error{Errc::internal, "no sockets"};
        attached[sandbox] = policy;
    }
    void update(const std::string& sandbox, EgressPolicy policy) override { attached.at(sandbox) = policy; }
    void detach(const std::string& sandbox) override { attached.erase(sandbox); }
    std::map<std::string, EgressPolicy> attached;
};

// --- the agent --------------------------------------------------------------------------------------------

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
    std::uint32_t next_pid = 2;
    std::map<std::uint32_t, std::shared_ptr<FakeProgram>> programs;
    std::optional<AgentSetup> setup;
    std::map<std::string, std::string> files;
    int connections = 0;
    std::function<void(std::string)> lose;  // breaks the present connection
    bool breaks_protocol = false;

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
        : inside_{std::move(inside)}, path_{std::move(path)} {}
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

// --- the keeper -------------------------------------------------------------------------------------------

class FakeKeeper final : public Keeper, public AgentConnector {
public:
    struct Box {
        BoxFacts facts;
        std::shared_ptr<FakeInside> inside = std::make_shared<FakeInside>();
        BoxUsage usage;
    };

    Task<KeeperFacts> info() override { co_return KeeperFacts{}; }
    Task<NewBox> create(BoxOrder order) override {
        co_await reach();
        if (create_fails) throw Error{*create_fails};
        Box box;
        box.facts = {.id = new_sandbox_id(),
                     .generation = next_generation++,
                     .engine = "jail",
                     .boundary = "shared-kernel",
                     .template_digest = order.template_digest,
                     .limits = order.limits,
                     .owner_tag = order.owner_tag,
                     .disk_limit_by = "btrfs-qgroup",
                     .kernel = "6.18"};
        box.inside->hello = agents_answer;
        const std::string id = box.facts.id;
        boxes.emplace(id, std::move(box));
        NewBox made = handles(id);
        made.phases = {{"image", 10}, {"network", 20}, {"started", 30}};
        co_return made;
    }
    Task<NewBox> attach(std::string id) override {
        co_await reach();
        require(id);
        ++attached;
        co_return handles(id);
    }
    Task<std::vector<BoxFacts>> list() override {
        co_await reach();
        std::vector<BoxFacts> all;
        for (const auto& [id, box] : boxes) all.push_back(box.facts);
        co_return all;
    }
    Task<BoxUsage> kill(std::string id) override {
        co_await reach();
        Box& box = require(id);
        const BoxUsage last = box.usage;
        boxes.erase(id);
        killed.insert(id);
        co_return last;
    }
    Task<> set_frozen(std::string id, bool frozen) override {
        ++freezing;
        co_await slow_freeze_();
        --freezing;
        co_await reach();
        require(id).facts.frozen = frozen;
    }
    Task<std::vector<BoxUsage>> usage(std::vector<std::string> ids) override {
        co_await reach();
        std::vector<BoxUsage> all;
        for (const std::string& id : ids) {
            if (const auto found = boxes.find(id); found != boxes.end()) {
                all.push_back(found->second.usage);
                all.back().id = id;
            }
        }
        co_return all;
    }
    Task<Fd> dial(std::string, std::uint16_t) override {
        throw Error{Errc::unavailable, Fault::command, "nothing listens"};
    }
    Task<Fd> open_audit(std::string, std::uint32_t) override { co_return null_fd(); }
    Task<> drop_audit(std::string, std::uint32_t) override { co_return; }
    Task<std::vector<TemplateFacts>> templates() override {
        co_return std::vector<TemplateFacts>{{.digest = "sha256:" + std::string(64, 'a'), .name = "base"}};
    }
    Task<TemplateFacts> import_template(std::string, std::string, Fd) override { co_return TemplateFacts{}; }
    Task<TemplateFacts> export_template(std::string, Fd) override { co_return TemplateFacts{}; }
    Task<> remove_template(std::string) override { co_return; }
    void on_notice(std::function<void(KeeperNotice)> handler) override { notice = std::move(handler); }

    std::unique_ptr<AgentChannel> connect(Fd, std::uint64_t generation) override {
        for (const auto& [id, box] : boxes) {
            if (box.facts.generation == generation) return std::make_unique<FakeChannel>(box.inside);
        }
        throw Error{Errc::internal, "no such generation"};
    }

    FakeInside& inside(const std::string& id) { return *boxes.at(id).inside; }

    std::map<std::string, Box> boxes;
    std::set<std::string> killed;
    std::uint64_t next_generation = 1;
    bool away = false;
    bool agents_answer = true;
    bool freeze_is_slow = false;
    int freezing = 0;
    int attached = 0;
    std::optional<Error> create_fails;
    std::function<void(KeeperNotice)> notice;

private:
    static Fd null_fd() { return Fd{sys(::open("/dev/null", O_RDWR | O_CLOEXEC), "open /dev/null")}; }
    Task<> reach() {
        if (away) throw Error{Errc::unavailable, Fault::engine, "the keeper is away"};
        co_return;
    }
    Task<> slow_freeze_() {
        while (freeze_is_slow) co_await yield_now();
    }
    Box& require(const std::string& id) {
        const auto found = boxes.find(id);
        if (found == boxes.end()) throw Error{Errc::not_found, "no such sandbox"};
        return found->second;
    }
    NewBox handles(const std::string& id) {
        return {.facts = boxes.at(id).facts,
                .handles = {.agent = null_fd(),
                            .pidfd = null_fd(),
                            .tcp = null_fd(),
                            .dns_udp = null_fd(),
                            .dns_tcp = null_fd()},
                .phases = {}};
    }
};

}  // namespace oyat::core
