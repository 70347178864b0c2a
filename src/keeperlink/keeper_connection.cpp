#include "keeperlink/keeper_connection.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/defer.hpp"
#include "base/log.hpp"
#include "io/timer.hpp"
#include "keeperlink/keeper_translate.hpp"

namespace oyat::keeperlink {
namespace {

using namespace std::chrono_literals;
using core::KeeperNotice;

constexpr Millis kShortestPause = 50ms;
constexpr Millis kLongestPause = 1s;
constexpr Millis kWaitForLink = 5s;

}  // namespace

struct KeeperConnection::Pending {
    std::optional<wire::KeeperReply> reply;
    std::vector<Fd> fds;
    bool lost = false;
    Condition answered;
};

Task<> KeeperConnection::stay_connected(std::shared_ptr<KeeperConnection> self) {
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

Task<> KeeperConnection::keep_sending(std::shared_ptr<KeeperConnection> self) {
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

void KeeperConnection::take(PacketSocket::Packet packet) {
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

Task<> KeeperConnection::wait_for_link() {
    while (!link_) co_await linked_.wait();
}

Task<> KeeperConnection::wait_for(Pending& pending) {
    while (!pending.reply && !pending.lost) co_await pending.answered.wait();
}

Task<KeeperConnection::Answer> KeeperConnection::call(std::shared_ptr<KeeperConnection> self,
                                                      wire::KeeperRequest request, Fd fd, Millis limit) {
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
    try {
        co_await with_timeout(limit, "the keeper answers", self->wait_for(pending));
    } catch (const Error&) {
        // An answer that came together with the end of the waiting counts: what is in it, a box perhaps,
        // would be nobody's otherwise.
        if (!pending.reply) throw;
    }
    if (!pending.reply) {
        throw Error{Errc::unavailable, Fault::engine, "the keeper went away before it had answered"};
    }
    if (pending.reply->code != 0) throw to_error(*pending.reply);
    co_return Answer{.reply = *std::move(pending.reply), .fds = std::move(pending.fds)};
}

void KeeperConnection::shut() {
    shut_ = true;
    on_notice = {};
    if (link_) link_->close();
    // A task that waits for what it owns itself would wait for ever when the loop ends now.
    linked_.notify_all();
}

}  // namespace oyat::keeperlink
