#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/keeper.hpp"
#include "io/condition.hpp"
#include "keeperlink/packet_socket.hpp"
#include "wire/keeper_messages.hpp"

namespace oyat::keeperlink {

// The connection to the keeper, whichever one it is at the moment: requests go out with an id, answers find
// the call that waits for them, notices go to the handler. Shared by its two tasks and by calls that are
// under way.
class KeeperConnection {
public:
    KeeperConnection(Executor executor, std::string path)
        : executor_{std::move(executor)}, path_{std::move(path)} {}

    // The two background tasks: one connects and receives, the other sends what had to wait. (Not one race of
    // two: they are dropped, not awaited, when the loop ends with the client.)
    static Task<> stay_connected(std::shared_ptr<KeeperConnection> self);
    static Task<> keep_sending(std::shared_ptr<KeeperConnection> self);

    struct Answer {
        wire::KeeperReply reply;
        std::vector<Fd> fds;
    };
    // Waits up to 5 s for a connection and up to `limit` for the answer. Throws what the keeper refused, and
    // Error{unavailable, Fault::engine} when it is away or went away before it had answered.
    static Task<Answer> call(std::shared_ptr<KeeperConnection> self, wire::KeeperRequest request, Fd fd,
                             Millis limit);

    // Ends the tasks; nothing is told any more.
    void shut();
    std::function<void(core::KeeperNotice)> on_notice;

private:
    // A request on its way; lives in the frame of the call that waits for it.
    struct Pending;

    Task<> wait_for_link();
    Task<> wait_for(Pending& pending);
    void take(PacketSocket::Packet packet);
    void tell(core::KeeperNotice notice) const {
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

}  // namespace oyat::keeperlink
