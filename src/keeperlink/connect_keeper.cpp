#include "keeperlink/connect_keeper.hpp"

#include <map>
#include <utility>

#include "base/throwing.hpp"
#include "io/task_group.hpp"
#include "keeperlink/keeper_connection.hpp"
#include "keeperlink/keeper_translate.hpp"
#include "keeperlink/package_file.hpp"

namespace oyat::keeperlink {
namespace {

using namespace std::chrono_literals;
using core::KeeperNotice;

constexpr Millis kAnswerLimit = 30s;
constexpr Millis kCopyLimit = 10min;
constexpr Millis kImageLimit = 1h;  // unpacking and packing of templates
constexpr std::size_t kBoxFds = 5;

// The member of a reply that its request asked for.
template <class T>
T expect(std::optional<T>& member, std::string_view what) {
    if (!member)
        throw Error{Errc::internal, Fault::engine, "the keeper answered without " + std::string{what}};
    return *std::move(member);
}

class KeeperClient final : public core::Keeper {
public:
    KeeperClient(Executor executor, std::string path)
        : connection_{std::make_shared<KeeperConnection>(executor, std::move(path))}, tasks_{executor} {
        tasks_.spawn(KeeperConnection::stay_connected(connection_));
        tasks_.spawn(KeeperConnection::keep_sending(connection_));
    }
    ~KeeperClient() override { connection_->shut(); }

    Task<core::KeeperFacts> info() override {
        auto answer = co_await ask({.info = wire::GetInfo{}});
        co_return to_core(expect(answer.reply.info, "facts"));
    }
    Task<core::NewBox> create(core::BoxOrder order) override {
        auto answer = co_await ask_patiently({.create = to_wire(std::move(order))});
        if (answer.fds.size() != kBoxFds + 1) throw incomplete();
        Fd record = std::move(answer.fds.back());
        answer.fds.pop_back();
        core::NewBox box = new_box(std::move(answer));
        first_records_.insert_or_assign(box.facts.id, std::move(record));
        co_return box;
    }
    Task<core::NewBox> attach(std::string id) override {
        co_return new_box(co_await ask({.attach = wire::AttachBox{.id = std::move(id)}}));
    }
    Task<std::vector<core::BoxFacts>> list() override {
        std::vector<core::BoxFacts> all;
        bool more = true;
        while (more) {
            const std::string after = all.empty() ? std::string{} : all.back().id;
            auto answer = co_await ask({.list = wire::ListBoxes{.after = after}});
            auto part = expect(answer.reply.boxes, "a list");
            for (wire::Box& box : part.boxes) all.push_back(to_core(std::move(box)));
            more = part.more && !part.boxes.empty();
        }
        co_return all;
    }
    Task<core::BoxUsage> kill(std::string id) override {
        first_records_.erase(id);
        auto answer = co_await ask({.kill = wire::KillBox{.id = std::move(id)}});
        co_return single_usage(answer.reply);
    }
    Task<> set_frozen(std::string id, bool frozen) override {
        co_await ask({.freeze = wire::FreezeBox{.id = std::move(id), .frozen = frozen}});
    }
    Task<core::BrakeFacts> pull_brake(core::BrakeOrder order) override {
        auto answer = co_await ask({.brake = to_wire(std::move(order))});
        co_return to_core(expect(answer.reply.brakes, "the brakes"));
    }
    Task<core::BrakeFacts> brakes() override {
        auto answer = co_await ask({.brakes = wire::GetBrakes{}});
        co_return to_core(expect(answer.reply.brakes, "the brakes"));
    }
    Task<std::vector<core::BoxUsage>> usage(std::vector<std::string> ids) override {
        auto answer = co_await ask({.stats = wire::StatBoxes{.ids = std::move(ids)}});
        std::vector<core::BoxUsage> all;
        for (const wire::BoxStats& each : expect(answer.reply.stats, "figures").stats)
            all.push_back(to_core(each));
        co_return all;
    }
    Task<Fd> dial(std::string id, std::uint16_t port) override {
        auto answer = co_await ask({.dial = wire::DialBox{.id = std::move(id), .port = port}});
        co_return single_fd(answer);
    }
    Task<Fd> open_audit(std::string name, std::uint32_t segment) override {
        // It came with the box, for whoever asks next.
        if (auto first = first_records_.extract(name); !first.empty() && segment == 1)
            co_return std::move(first.mapped());
        auto answer =
            co_await ask({.open_audit = wire::OpenAudit{.name = std::move(name), .segment = segment}});
        co_return single_fd(answer);
    }
    Task<> drop_audit(std::string name, std::uint32_t segment) override {
        co_await ask({.drop_audit = wire::DropAudit{.name = std::move(name), .segment = segment}});
    }

    Task<core::SnapshotFacts> make_snapshot(std::string id, bool memory) override {
        auto answer = co_await ask_patiently(
            {.make_snapshot = wire::MakeSnapshot{.id = std::move(id), .memory = memory}});
        co_return to_core(expect(answer.reply.snapshot, "a snapshot"));
    }
    Task<std::vector<core::SnapshotFacts>> snapshots() override {
        std::vector<core::SnapshotFacts> all;
        bool more = true;
        while (more) {
            const std::string after = all.empty() ? std::string{} : all.back().id;
            auto answer = co_await ask({.list_snapshots = wire::ListSnapshots{.after = after}});
            auto part = expect(answer.reply.snapshots, "snapshots");
            for (wire::SnapshotInfo& each : part.snapshots) all.push_back(to_core(std::move(each)));
            more = part.more && !part.snapshots.empty();
        }
        co_return all;
    }
    Task<> remove_snapshot(std::string snapshot) override {
        co_await ask({.remove_snapshot = wire::RemoveSnapshot{.id = std::move(snapshot)}});
    }
    Task<core::BoxUsage> store(std::string id, bool memory) override {
        auto answer =
            co_await ask_patiently({.store = wire::StoreBox{.id = std::move(id), .memory = memory}});
        co_return single_usage(answer.reply);
    }
    Task<core::NewBox> wake(std::string id) override {
        co_return new_box(co_await ask_patiently({.wake = wire::WakeBox{.id = std::move(id)}}));
    }
    Task<> reset(std::string id, std::string snapshot) override {
        co_await ask_patiently(
            {.reset = wire::ResetBox{.id = std::move(id), .snapshot = std::move(snapshot)}});
    }

    Task<std::vector<core::TemplateFacts>> templates() override {
        auto answer = co_await ask({.list_templates = wire::ListTemplates{}});
        std::vector<core::TemplateFacts> all;
        for (wire::TemplateInfo& each : expect(answer.reply.templates, "templates").templates) {
            all.push_back(to_core(std::move(each)));
        }
        co_return all;
    }
    Task<core::TemplateFacts> import_template(std::string name, std::string digest, Fd tar) override {
        wire::KeeperRequest request{
            .import_template = wire::ImportTemplate{.name = std::move(name), .digest = std::move(digest)}};
        auto answer =
            co_await KeeperConnection::call(connection_, std::move(request), std::move(tar), kImageLimit);
        co_return to_core(expect(answer.reply.template_info, "a template"));
    }
    Task<packages::Listing> find_packages(std::string id) override {
        PackageFile file;
        auto answer = co_await KeeperConnection::call(
            connection_, {.search_packages = wire::SearchPackages{.id = std::move(id)}},
            file.for_the_keeper(), kAnswerLimit);
        co_return or_throw(
            packages::read_listing(file.text(expect(answer.reply.packages, "packages").bytes)));
    }
    Task<core::TemplateFacts> export_template(std::string digest, Fd into) override {
        wire::KeeperRequest request{.export_template = wire::ExportTemplate{.digest = std::move(digest)}};
        auto answer =
            co_await KeeperConnection::call(connection_, std::move(request), std::move(into), kImageLimit);
        co_return to_core(expect(answer.reply.template_info, "a template"));
    }
    Task<> remove_template(std::string digest) override {
        co_await ask({.remove_template = wire::RemoveTemplate{.digest = std::move(digest)}});
    }

    void on_notice(std::function<void(KeeperNotice)> handler) override {
        connection_->on_notice = std::move(handler);
    }

private:
    Task<KeeperConnection::Answer> ask(wire::KeeperRequest request) {
        return KeeperConnection::call(connection_, std::move(request), Fd{}, kAnswerLimit);
    }
    // For what copies a disk or a memory.
    Task<KeeperConnection::Answer> ask_patiently(wire::KeeperRequest request) {
        return KeeperConnection::call(connection_, std::move(request), Fd{}, kCopyLimit);
    }
    static Error incomplete() {
        return Error{Errc::internal, Fault::engine, "the keeper sent a box without all its descriptors"};
    }
    static core::NewBox new_box(KeeperConnection::Answer answer) {
        wire::BoxCreated created = expect(answer.reply.created, "a box");
        if (answer.fds.size() != kBoxFds) throw incomplete();
        return {.facts = to_core(std::move(created.box)),
                .handles = {.agent = std::move(answer.fds[0]),
                            .pidfd = std::move(answer.fds[1]),
                            .tcp = std::move(answer.fds[2]),
                            .dns_udp = std::move(answer.fds[3]),
                            .dns_tcp = std::move(answer.fds[4])},
                .phases = to_core(std::move(created.phases))};
    }
    static core::BoxUsage single_usage(wire::KeeperReply& reply) {
        const wire::BoxStatsList list = expect(reply.stats, "last figures");
        return list.stats.size() == 1 ? to_core(list.stats.front()) : core::BoxUsage{};
    }
    static Fd single_fd(KeeperConnection::Answer& answer) {
        if (answer.fds.size() != 1)
            throw Error{Errc::internal, Fault::engine, "the keeper sent no descriptor"};
        return std::move(answer.fds.front());
    }

    std::shared_ptr<KeeperConnection>
        connection_;  // shared with the background task and with calls that are under way
    TaskGroup tasks_;
    std::map<std::string, Fd> first_records_;  // of boxes whose record nobody has asked for yet
};

}  // namespace

std::unique_ptr<core::Keeper> connect_keeper(Executor executor, std::string socket_path) {
    return std::make_unique<KeeperClient>(std::move(executor), std::move(socket_path));
}

}  // namespace oyat::keeperlink
