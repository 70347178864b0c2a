#pragma once

#include <algorithm>
#include <optional>

#include "api/native/front.hpp"
#include "core/store.hpp"

// For the tests of this room: a house in which nothing runs.
namespace oyat::native::testing {

class NoAudit final : public core::AuditLog {
public:
    void append(const core::Event&) override {}
};

class NoStore final : public core::Store {
public:
    Task<> save(core::SandboxRecord) override { co_return; }
    Task<std::vector<core::SandboxRecord>> load() override { co_return std::vector<core::SandboxRecord>{}; }
    Task<> forget(std::string) override { co_return; }
    Task<> save_key(core::KeyRecord) override { co_return; }
    Task<std::vector<core::KeyRecord>> load_keys() override { co_return std::vector<core::KeyRecord>{}; }
    Task<> save_item(std::string, std::string, std::string) override { co_return; }
    Task<> forget_item(std::string, std::string) override { co_return; }
    Task<std::vector<core::StoredItem>> load_items(std::string) override {
        co_return std::vector<core::StoredItem>{};
    }
};

// Notes what it was told.
class NotedBrakes final : public core::Brakes {
public:
    Task<core::BrakeFacts> pull(core::BrakeOrder order, core::Principal) override {
        orders.push_back(std::move(order));
        co_return core::BrakeFacts{};
    }
    Task<> put_down(std::string, core::Principal) override { co_return; }
    void stop_creates_of(std::string key_id) override { stopped_key = std::move(key_id); }
    [[nodiscard]] bool stopped() const override { return false; }
    [[nodiscard]] bool egress_off() const override { return false; }

    std::vector<core::BrakeOrder> orders;
    std::string stopped_key;
};

// One snapshot, and notes of what it was told.
class NotedSnapshots final : public core::Snapshots {
public:
    Task<core::SnapshotRecord> make_snapshot(std::string sandbox, std::string name,
                                             core::Principal) override {
        told.push_back("make " + sandbox + " " + name);
        co_return one;
    }
    [[nodiscard]] std::vector<core::SnapshotRecord> snapshots(const core::SnapshotFilter&) const override {
        return {one};
    }
    [[nodiscard]] core::SnapshotRecord snapshot(const std::string& reference,
                                                const std::string& tenant) const override {
        if (reference != one.id || tenant != one.tenant)
            throw Error{Errc::not_found, "there is no such snapshot"};
        return one;
    }
    Task<> remove_snapshot(std::string reference, core::Principal) override {
        told.push_back("remove " + reference);
        co_return;
    }
    Task<core::SnapshotRecord> retain_snapshot(std::string reference, Millis kept, core::Principal) override {
        told.push_back("retain " + reference + " " + std::to_string(kept.count()));
        co_return one;
    }
    Task<std::vector<core::Fork>> fork(std::string sandbox, core::ForkOrder order, core::Principal) override {
        told.push_back("fork " + sandbox + " " + std::to_string(order.count));
        std::vector<core::Fork> forks(order.count);
        for (core::Fork& each : forks) each.error = Error{Errc::exhausted, Fault::limit, "no room"};
        co_return forks;
    }
    Task<> reset(std::string sandbox, std::string reference, core::Principal) override {
        told.push_back("reset " + sandbox + " " + reference);
        throw Error{Errc::not_found, "there is no such sandbox"};
        co_return;
    }

    std::vector<std::string> told;
    core::SnapshotRecord one{.id = "saaaaaaaaaaaaaaaaaaaa",
                             .tenant = "default",
                             .sandbox = "igone0000000000000000",
                             .created = from_unix_millis(1'796'000'000'000),
                             .used = from_unix_millis(1'796'000'000'000)};
};

// Knows one sandbox that has ended, and refuses to make any.
class EmptySandboxes final : public core::Sandboxes {
public:
    Task<std::shared_ptr<core::Sandbox>> create(core::CreateRequest request, core::Principal) override {
        asked = std::move(request);
        throw Error{Errc::exhausted, "no room for one more sandbox"};
        co_return nullptr;
    }
    [[nodiscard]] std::shared_ptr<core::Sandbox> find(const std::string&, const std::string&) const override {
        throw Error{Errc::not_found, "there is no such sandbox"};
    }
    [[nodiscard]] std::shared_ptr<core::Sandbox> find_any(const std::string&) const override {
        return nullptr;
    }
    [[nodiscard]] std::vector<std::shared_ptr<core::Sandbox>> every() const override { return {}; }
    [[nodiscard]] std::vector<std::shared_ptr<core::Sandbox>> list(const core::ListFilter&) const override {
        return {};
    }
    [[nodiscard]] std::optional<core::SandboxRecord> ended(const std::string& id,
                                                           const std::string& tenant) const override {
        if (id != gone.id || tenant != gone.tenant) return std::nullopt;
        return gone;
    }
    Task<> kill(std::string, core::Principal, core::EndedBy) override { return missing(); }
    Task<> set_timeout(std::string, Millis, core::TimeoutMode, core::Principal) override { return missing(); }
    Task<> expose(std::string, std::uint16_t, core::Reach, core::Principal) override { return missing(); }
    Task<> pause(std::string, core::Keep, core::Principal) override { return missing(); }
    Task<> bind_secrets(std::string, core::SecretPlan, core::Principal) override { return missing(); }
    Task<> unbind_secret(std::string, std::string, core::Principal) override { return missing(); }
    Task<bool> connect(std::string, std::optional<Millis>, core::Keep, core::Principal) override {
        co_await missing();
        co_return false;
    }
    [[nodiscard]] core::PolicyPtr policy(const std::string&, const std::string&) const override {
        throw Error{Errc::not_found, "sandbox not found"};
    }
    Task<core::PolicyChange> set_policy(std::string, core::PolicyOrder, core::Principal) override {
        co_await missing();
        co_return core::PolicyChange{};
    }
    Task<core::PolicyChange> set_policy_above(policy::Layer, std::string, std::optional<boost::json::object>,
                                              core::Principal) override {
        co_return core::PolicyChange{};
    }
    [[nodiscard]] std::vector<core::UsageSample> samples(const std::string&,
                                                         const std::string&) const override {
        return {};
    }

    std::optional<core::CreateRequest> asked;
    core::SandboxRecord gone{.id = "igone0000000000000000",
                             .tenant = "default",
                             .access_token = "secret-token",
                             .created = from_unix_millis(1'796'000'000'000),
                             .state = core::SandboxState::ended,
                             .ended_by = core::EndedBy::timeout};

private:
    static Task<> missing() {
        throw Error{Errc::not_found, "there is no such sandbox"};
        co_return;
    }
};

// Answers info() and templates(), and is away for all else.
class AbsentKeeper final : public core::Keeper {
public:
    Task<core::KeeperFacts> info() override {
        core::KeeperFacts facts;
        facts.engines.push_back(
            {.name = "jail", .available = true, .boundary = "shared-kernel", .capabilities = {"pause"}});
        facts.limits.push_back({.name = "memory", .mechanism = "cgroup", .hard = true});
        facts.held.sandboxes = 3;
        co_return facts;
    }
    Task<core::NewBox> create(core::BoxOrder) override { return away<core::NewBox>(); }
    Task<core::NewBox> attach(std::string) override { return away<core::NewBox>(); }
    Task<std::vector<core::BoxFacts>> list() override { return away<std::vector<core::BoxFacts>>(); }
    Task<core::BoxUsage> kill(std::string) override { return away<core::BoxUsage>(); }
    Task<> set_frozen(std::string, bool) override { co_await away<int>(); }
    Task<core::BrakeFacts> pull_brake(core::BrakeOrder) override { return away<core::BrakeFacts>(); }
    Task<core::BrakeFacts> brakes() override { return away<core::BrakeFacts>(); }
    Task<std::vector<core::BoxUsage>> usage(std::vector<std::string>) override {
        return away<std::vector<core::BoxUsage>>();
    }
    Task<Fd> dial(std::string, std::uint16_t) override { return away<Fd>(); }
    Task<Fd> open_audit(std::string, std::uint32_t) override { return away<Fd>(); }
    Task<> drop_audit(std::string, std::uint32_t) override { co_await away<int>(); }
    Task<packages::Listing> find_packages(std::string) override { return away<packages::Listing>(); }
    Task<core::SnapshotFacts> make_snapshot(std::string, bool) override {
        return away<core::SnapshotFacts>();
    }
    Task<std::vector<core::SnapshotFacts>> snapshots() override {
        return away<std::vector<core::SnapshotFacts>>();
    }
    Task<> remove_snapshot(std::string) override { co_await away<int>(); }
    Task<core::BoxUsage> store(std::string, bool) override { return away<core::BoxUsage>(); }
    Task<core::NewBox> wake(std::string) override { return away<core::NewBox>(); }
    Task<> reset(std::string, std::string) override { co_await away<int>(); }
    Task<std::vector<core::TemplateFacts>> templates() override {
        co_return std::vector<core::TemplateFacts>{};
    }
    Task<core::TemplateFacts> import_template(std::string, std::string, Fd) override {
        return away<core::TemplateFacts>();
    }
    Task<core::TemplateFacts> export_template(std::string, Fd) override {
        return away<core::TemplateFacts>();
    }
    Task<> remove_template(std::string) override { co_await away<int>(); }
    void on_notice(std::function<void(core::KeeperNotice)>) override {}

private:
    template <class T>
    static Task<T> away() {
        throw Error{Errc::unavailable, Fault::engine, "the keeper is away"};
        co_return T{};
    }
};

struct House {
    SystemClock clock;
    NoAudit audit;
    NoStore store;
    EmptySandboxes sandboxes;
    NotedSnapshots snapshots;
    NotedBrakes brakes;
    AbsentKeeper keeper;
    core::EventBus bus{clock, audit};
    core::Templates templates{keeper};
    core::Policies policies{store};
    auth::Keys keys{clock, store};
    NativeFront front{Services{sandboxes, snapshots, brakes, keeper, templates, policies, bus, keys, clock,
                               Settings{.version = "1.2.3",
                                        .spool = "/tmp",
                                        .metrics = [] { return std::string{"oyat_up 1\n"}; },
                                        .all_routes = [this] { return front.routes(); }}}};
};

}  // namespace oyat::native::testing
