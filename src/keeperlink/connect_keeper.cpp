#include "keeperlink/connect_keeper.hpp"

#include <map>
#include <utility>

#include "base/defer.hpp"
#include "base/log.hpp"
#include "base/throwing.hpp"
#include "io/condition.hpp"
#include "io/task_group.hpp"
#include "io/timer.hpp"
#include "keeperlink/keeper_translate.hpp"
#include "keeperlink/packet_socket.hpp"

namespace oyat::keeperlink {
namespace {

using namespace std::chrono_literals;
using core::KeeperNotice;

constexpr Millis kShortestPause = 50ms;
constexpr Millis kLongestPause = 1s;
constexpr Millis kWaitForLink = 5s;
constexpr Millis kAnswerLimit = 30s;
constexpr Millis kImageLimit = 1h;  // unpacking and packing of templates
constexpr std::size_t kBoxFds = 5;

// A request on its way; lives in the frame of the call that waits for it.
struct Pending {
    std::optional<wire::KeeperReply> reply;
    std::vector<Fd> fds;
    bool lost = false;
    Condition answered;
};

// Everything that the background task and the calls share.
class Client : public std::enable_shared_from_this<Client> {
public:
    Client(Executor executor, std::string path) : executor_{std::move(executor)}, path_{std::move(path)} {}

    // The two background tasks: one connects and receives, the other sends what had to wait. (Not one race of
    // two: they are dropped, not awaited, when the loop ends with the client.)
    static Task<> stay_connected(std::shared_ptr<Client> self);
    static Task<> keep_sending(std::shared_ptr<Client> self);

    struct Answer {
        wire::KeeperReply reply;
        std::vector<Fd> fds;
    };
    static Task<Answer> call(std::shared_ptr<Client> self, wire::KeeperRequest request, Fd fd, Millis limit);

    void shut();
    std::function<void(KeeperNotice)> on_notice;

private:
    Task<> wait_for_link();
    Task<> wait_for(Pending& pending);
    void take(PacketSocket::Packet packet);
    void tell(KeeperNotice notice) const {
        if (on_notice) on_notice(std::move(notice));
    }

    Executor executor_;
    const std::string path_;
    std::shared_ptr<PacketSocket> link_;  // null while the keeper is away; shared with the sender
    Condition linked_;
    bool shut_ = false;
    std::uint64_t last_id_ = 0;
    std::map<std::uint64_t, Pending*> pending_;
};

Task<> Client::stay_connected(std::shared_ptr<Client> self) {
    Millis pause = kShortestPause;
    bool had_link = false;
    while (!self->shut_) {
        std::string why;
        try {
            self->link_ = std::make_shared<PacketSocket>(self->executor_, PacketSocket::connect(self->path_));
            self->linked_.notify_all();
            pause = kShortestPause;
            if (std::exchange(had_link, true)) self->tell({.kind = KeeperNotice::Kind::link_back});
            while (true) self->take(co_await self->link_->receive());
        } catch (const Error& e) {
            if (e.code() == Errc::canceled) throw;
            why = e.message();
        }
        if (const auto broken = std::exchange(self->link_, nullptr)) {
            broken->close();
            log::warn("keeper lost", {{"reason", why}});
            for (auto& [id, call] : std::exchange(self->pending_, {})) {
                call->lost = true;
                call->answered.notify_all();
            }
            if (!self->shut_) self->tell({.kind = KeeperNotice::Kind::link_lost, .text = why});
        }
        co_await sleep_for(pause);
        pause = std::min(2 * pause, kLongestPause);
    }
}

Task<> Client::keep_sending(std::shared_ptr<Client> self) {
    while (!self->shut_) {
        const std::shared_ptr<PacketSocket> link = self->link_;
        if (!link) {
            co_await self->linked_.wait();
            continue;
        }
        try {
            co_await link->keep_sending();
        } catch (const Error& e) {
            if (e.code() == Errc::canceled) throw;
        }
        link->close();  // wakes the receiver, which connects again
        while (self->link_ == link) co_await self->linked_.wait();
    }
}

void Client::take(PacketSocket::Packet packet) {
    Result<wire::KeeperReply> reply = wire::decode<wire::KeeperReply>(packet.bytes);
    if (!reply) throw Error{Errc::invalid_argument, Fault::engine, "keeper: " + reply.error().message()};
    if (reply->id == 0) {
        if (reply->event) tell(to_core(*std::move(reply->event)));
        return;
    }
    const auto found = pending_.find(reply->id);
    if (found == pending_.end()) {
        // Nobody waits any more. A box that was made for nobody must not live on.
        if (reply->created && link_) {
            wire::KeeperRequest undo{.id = ++last_id_, .kill = wire::KillBox{.id = reply->created->box.id}};
            link_->send(wire::encode(undo), Fd{});
        }
        return;
    }
    Pending& call = *found->second;
    pending_.erase(found);
    call.reply = *std::move(reply);
    call.fds = std::move(packet.fds);
    call.answered.notify_all();
}

Task<> Client::wait_for_link() {
    while (!link_) co_await linked_.wait();
}

Task<> Client::wait_for(Pending& pending) {
    while (!pending.reply && !pending.lost) co_await pending.answered.wait();
}

Task<Client::Answer> Client::call(std::shared_ptr<Client> self, wire::KeeperRequest request, Fd fd,
                                  Millis limit) {
    if (!self->link_) {
        try {
            co_await with_timeout(kWaitForLink, "the keeper comes back", self->wait_for_link());
        } catch (const Error& e) {
            if (e.code() == Errc::canceled) throw;
            throw Error{Errc::unavailable, Fault::engine, "the keeper is away"};
        }
    }
    request.id = ++self->last_id_;
    std::string packet = wire::encode(request);
    if (packet.size() > wire::kMaxKeeperPacket) {
        throw Error{Errc::invalid_argument, Fault::engine, "request to the keeper is too long"};
    }
    Pending pending;
    self->pending_.emplace(request.id, &pending);
    const Defer forget{[&] { self->pending_.erase(request.id); }};
    self->link_->send(std::move(packet), std::move(fd));
    co_await with_timeout(limit, "the keeper answers", self->wait_for(pending));
    if (!pending.reply) {
        throw Error{Errc::unavailable, Fault::engine, "the keeper went away before it had answered"};
    }
    if (pending.reply->code != 0) throw to_error(*pending.reply);
    co_return Answer{.reply = *std::move(pending.reply), .fds = std::move(pending.fds)};
}

void Client::shut() {
    shut_ = true;
    on_notice = {};
    if (link_) link_->close();
    // A task that waits for what it owns itself would wait for ever when the loop ends now.
    linked_.notify_all();
}

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
        : client_{std::make_shared<Client>(executor, std::move(path))}, tasks_{executor} {
        tasks_.spawn(Client::stay_connected(client_));
        tasks_.spawn(Client::keep_sending(client_));
    }
    ~KeeperClient() override { client_->shut(); }

    Task<core::KeeperFacts> info() override {
        auto answer = co_await ask({.info = wire::GetInfo{}});
        co_return to_core(expect(answer.reply.info, "facts"));
    }
    Task<core::NewBox> create(core::BoxOrder order) override {
        co_return new_box(co_await ask({.create = to_wire(std::move(order))}));
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
        auto answer = co_await ask({.kill = wire::KillBox{.id = std::move(id)}});
        co_return single_usage(answer.reply);
    }
    Task<> set_frozen(std::string id, bool frozen) override {
        co_await ask({.freeze = wire::FreezeBox{.id = std::move(id), .frozen = frozen}});
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
        auto answer =
            co_await ask({.open_audit = wire::OpenAudit{.name = std::move(name), .segment = segment}});
        co_return single_fd(answer);
    }
    Task<> drop_audit(std::string name, std::uint32_t segment) override {
        co_await ask({.drop_audit = wire::DropAudit{.name = std::move(name), .segment = segment}});
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
        auto answer = co_await Client::call(client_, std::move(request), std::move(tar), kImageLimit);
        co_return to_core(expect(answer.reply.template_info, "a template"));
    }
    Task<core::TemplateFacts> export_template(std::string digest, Fd into) override {
        wire::KeeperRequest request{.export_template = wire::ExportTemplate{.digest = std::move(digest)}};
        auto answer = co_await Client::call(client_, std::move(request), std::move(into), kImageLimit);
        co_return to_core(expect(answer.reply.template_info, "a template"));
    }
    Task<> remove_template(std::string digest) override {
        co_await ask({.remove_template = wire::RemoveTemplate{.digest = std::move(digest)}});
    }

    void on_notice(std::function<void(KeeperNotice)> handler) override {
        client_->on_notice = std::move(handler);
    }

private:
    Task<Client::Answer> ask(wire::KeeperRequest request) {
        return Client::call(client_, std::move(request), Fd{}, kAnswerLimit);
    }
    static core::NewBox new_box(Client::Answer answer) {
        wire::BoxCreated created = expect(answer.reply.created, "a box");
        if (answer.fds.size() != kBoxFds) {
            throw Error{Errc::internal, Fault::engine, "the keeper sent a box without all its descriptors"};
        }
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
    static Fd single_fd(Client::Answer& answer) {
        if (answer.fds.size() != 1)
            throw Error{Errc::internal, Fault::engine, "the keeper sent no descriptor"};
        return std::move(answer.fds.front());
    }

    std::shared_ptr<Client> client_;  // shared with the background task and with calls that are under way
    TaskGroup tasks_;
};

}  // namespace

std::unique_ptr<core::Keeper> connect_keeper(Executor executor, std::string socket_path) {
    return std::make_unique<KeeperClient>(std::move(executor), std::move(socket_path));
}

}  // namespace oyat::keeperlink
