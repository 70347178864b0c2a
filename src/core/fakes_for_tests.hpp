#pragma once

#include <fcntl.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/id.hpp"
#include "base/throwing.hpp"
#include "core/fake_agent_for_tests.hpp"
#include "core/make_sandboxes.hpp"
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
    Task<> save_item(std::string kind, std::string key, std::string body) override {
        if (fails) throw Error{Errc::unavailable, Fault::oyat_operator, "the store is full"};
        items[{std::move(kind), std::move(key)}] = std::move(body);
        co_return;
    }
    Task<> forget_item(std::string kind, std::string key) override {
        items.erase({std::move(kind), std::move(key)});
        co_return;
    }
    Task<std::vector<StoredItem>> load_items(std::string kind) override {
        std::vector<StoredItem> all;
        for (const auto& [place, body] : items) {
            if (place.first == kind) all.push_back({.key = place.second, .body = body});
        }
        co_return all;
    }
    bool fails = false;
    std::map<std::string, SandboxRecord> records;
    std::map<std::pair<std::string, std::string>, std::string> items;  // by kind and key
};

class FakeEgress final : public EgressControl {
public:
    void attach(std::string sandbox, std::string, EgressSockets sockets, PolicyPtr policy) override {
        if (!sockets.tcp || !sockets.dns_udp || !sockets.dns_tcp) throw Error{Errc::internal, "no sockets"};
        attached[sandbox] = std::move(policy);
    }
    std::size_t update(const std::string& sandbox, PolicyPtr policy) override {
        attached.at(sandbox) = std::move(policy);
        return 0;
    }
    void detach(const std::string& sandbox) override { attached.erase(sandbox); }
    std::string authority_pem(const std::string& tenant) override { return "authority of " + tenant + "\n"; }
    Traffic traffic(const std::string& sandbox) const override {
        const auto found = moved.find(sandbox);
        return found == moved.end() ? Traffic{} : found->second;
    }
    std::map<std::string, PolicyPtr> attached;
    std::map<std::string, Traffic> moved;
};

class FakeKeeper final : public Keeper, public AgentConnector {
public:
    struct Box {
        BoxFacts facts;
        std::shared_ptr<FakeInside> inside = std::make_shared<FakeInside>();
        BoxUsage usage;
    };

    Task<KeeperFacts> info() override { co_return KeeperFacts{.engines = engines}; }
    Task<NewBox> create(BoxOrder order) override {
        co_await reach();
        if (create_fails) throw Error{*create_fails};
        if (!order.from_snapshot.empty() && !saved.contains(order.from_snapshot))
            throw Error{Errc::not_found, "no such snapshot"};
        Box box;
        box.facts = {.id = new_sandbox_id(),
                     .generation = next_generation++,
                     .engine = order.engine.empty() ? "jail" : order.engine,
                     .boundary = "shared-kernel",
                     .template_digest = order.template_digest,
                     .limits = order.limits,
                     .owner_tag = order.owner_tag,
                     .disk_limit_by = disk_limit_by,
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
        if (require(id).facts.held && !frozen)
            throw Error{Errc::failed_precondition, "the operator holds it"};
        require(id).facts.frozen = frozen;
        if (freeze_answers) throw Error{*freeze_answers};
    }
    Task<BrakeFacts> pull_brake(BrakeOrder order) override {
        co_await reach();
        using enum BrakeOrder::Brake;
        if (order.all && (order.brake == hold || order.brake == release)) stop.stopped = order.brake == hold;
        if (order.all && order.brake == cut_egress) stop.egress_off = true;
        if (order.all && order.brake == open_egress) stop.egress_off = false;
        for (auto& [id, box] : boxes) {
            if (!order.all && std::ranges::find(order.ids, id) == order.ids.end()) continue;
            if (order.brake == hold || order.brake == release) box.facts.held = order.brake == hold;
            if (order.brake == open_egress) box.facts.egress_off = false;
            if (order.brake == cut_egress && !order.all) box.facts.egress_off = true;
        }
        co_return stop;
    }
    Task<BrakeFacts> brakes() override {
        co_await reach();
        co_return stop;
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
        if (listening) co_return std::exchange(listening, Fd{});
        throw Error{Errc::unavailable, Fault::command, "nothing listens"};
    }
    Task<Fd> open_audit(std::string, std::uint32_t) override { co_return null_fd(); }
    Task<> drop_audit(std::string, std::uint32_t) override { co_return; }
    Task<SnapshotFacts> make_snapshot(std::string id, bool memory) override {
        co_await reach();
        require_memory(memory);
        const Box& box = require(id);
        SnapshotFacts facts{.id = "s" + new_sandbox_id().substr(1),
                            .box = id,
                            .template_digest = box.facts.template_digest,
                            .engine = box.facts.engine,
                            .memory = memory,
                            .limits = box.facts.limits,
                            .disk_bytes = 4096};
        saved.emplace(facts.id, facts);
        co_return facts;
    }
    Task<std::vector<SnapshotFacts>> snapshots() override {
        co_await reach();
        std::vector<SnapshotFacts> all;
        for (const auto& [id, facts] : saved) all.push_back(facts);
        co_return all;
    }
    Task<> remove_snapshot(std::string snapshot) override {
        co_await reach();
        if (saved.erase(snapshot) == 0) throw Error{Errc::not_found, "no such snapshot"};
    }
    Task<BoxUsage> store(std::string id, bool memory) override {
        co_await reach();
        require_memory(memory);
        Box& box = require(id);
        box.facts.stored = true;
        box.facts.has_memory = memory;
        if (!memory) box.inside = std::make_shared<FakeInside>();
        co_return box.usage;
    }
    Task<NewBox> wake(std::string id) override {
        co_await reach();
        Box& box = require(id);
        if (!box.facts.stored) throw Error{Errc::failed_precondition, "it is not stored"};
        box.facts.stored = box.facts.has_memory = false;
        box.facts.generation = next_generation++;
        co_return handles(id);
    }
    Task<> reset(std::string id, std::string snapshot) override {
        co_await reach();
        Box& box = require(id);
        if (!box.facts.stored) throw Error{Errc::failed_precondition, "it is not stored"};
        if (!snapshot.empty() && !saved.contains(snapshot)) throw Error{Errc::not_found, "no such snapshot"};
        box.inside = std::make_shared<FakeInside>();
        box.facts.has_memory = false;
        resets.push_back(snapshot);
    }
    Task<packages::Listing> find_packages(std::string id) override {
        co_await reach();
        ++searches;
        require(id);
        co_return found;
    }
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
    BrakeFacts stop;
    bool away = false;
    bool agents_answer = true;
    bool freeze_is_slow = false;
    std::optional<Error> freeze_answers;  // though it was done
    std::string disk_limit_by = "btrfs-qgroup";
    int freezing = 0;
    Fd listening;  // what the next dial gets
    int attached = 0;
    packages::Listing found;  // by every search
    int searches = 0;
    std::optional<Error> create_fails;
    std::vector<EngineFacts> engines{
        {.name = "jail", .available = true, .boundary = "shared-kernel", .capabilities = {"pause"}}};
    std::map<std::string, SnapshotFacts> saved;
    std::vector<std::string> resets;  // to what
    bool saves_memory = false;        // as the jail can't
    std::function<void(KeeperNotice)> notice;

private:
    static Fd null_fd() { return Fd{sys(::open("/dev/null", O_RDWR | O_CLOEXEC), "open /dev/null")}; }
    Task<> reach() {
        if (away) throw Error{Errc::unavailable, Fault::engine, "the keeper is away"};
        co_return;
    }
    void require_memory(bool memory) const {
        if (memory && !saves_memory) throw Error{Errc::unimplemented, Fault::engine, "it can't save memory"};
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
