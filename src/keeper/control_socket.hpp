#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "keeper/loop.hpp"
#include "wire/keeper_messages.hpp"

namespace oyat::keeper {

// Who asked: answers go to that connection, or nowhere when another oyatd has taken its place.
using ClientId = std::uint64_t;

// The keeper's door: `keeper.sock`, SOCK_SEQPACKET, for root and for oyatd's user only. One connection is
// current; a newer one replaces it. What comes in may be from an oyatd that an attacker holds (threats A7): a
// packet that is truncated or does not parse closes the connection, descriptors that the message does not
// call for are closed.
class ControlSocket {
public:
    struct Options {
        std::string path;
        gid_t group = 0;  // of the socket file, mode 0660
        uid_t oyatd = 0;  // may connect, besides root
    };
    using RequestHandler = std::function<void(ClientId, wire::KeeperRequest, std::vector<Fd>)>;

    explicit ControlSocket(Loop& loop) : loop_{loop} {}
    ~ControlSocket();
    ControlSocket(const ControlSocket&) = delete;
    ControlSocket& operator=(const ControlSocket&) = delete;

    // Opens the door.
    void serve(const Options& options, RequestHandler on_request);

    void reply(ClientId to, const wire::KeeperReply& reply, std::vector<Fd> fds = {});
    // To the current oyatd, if there is one: it asks for the state of things when it connects.
    void event(const wire::KeeperEvent& event);

private:
    struct Packet {
        std::string bytes;
        std::vector<Fd> fds;
    };

    void accept_one();
    void read_some();
    bool read_packet();
    void send(Packet packet);
    void flush();
    void drop_client(const char* why) noexcept;

    Loop& loop_;
    std::string path_;
    uid_t oyatd_ = 0;
    RequestHandler on_request_;
    Fd listener_;
    Fd client_;
    ClientId client_id_ = 0;
    std::deque<Packet> unsent_;
    std::string buffer_;
};

// How many descriptors a request must carry.
[[nodiscard]] std::size_t fds_wanted(const wire::KeeperRequest& request) noexcept;

}  // namespace oyat::keeper
