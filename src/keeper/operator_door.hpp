#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "keeper/loop.hpp"
#include "wire/keeper_messages.hpp"

namespace oyat::keeper {

// The operator's own way to the keeper, for when oyatd does not answer, or is not believed: `operator.sock`
// in the keeper's part of the state, where only root can get to. One request a connection, and only of those
// that stop things or show what runs; oyatd's connection is not disturbed.
class OperatorDoor {
public:
    using Reply = std::function<void(const wire::KeeperReply&)>;
    using Handler = std::function<void(const wire::KeeperRequest&, Reply)>;

    OperatorDoor(Loop& loop, std::string directory, Handler on_request);
    ~OperatorDoor();
    OperatorDoor(const OperatorDoor&) = delete;
    OperatorDoor& operator=(const OperatorDoor&) = delete;

private:
    void accept_one();
    void read_request(int peer);
    void answer(int peer, std::uint64_t visit, const wire::KeeperReply& reply);
    void see_off(int peer);

    struct Visitor {
        Fd socket;
        std::uint64_t visit = 0;  // a late answer must not reach who got the same descriptor after it
        bool asked = false;
    };

    Loop& loop_;
    std::string path_;
    Handler on_request_;
    Fd listener_;
    std::map<int, Visitor> visitors_;
    std::uint64_t last_visit_ = 0;
};

}  // namespace oyat::keeper
