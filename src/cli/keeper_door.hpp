#pragma once

#include <string>

#include "wire/keeper_messages.hpp"

namespace oyat::cli {

// The keeper's door for the operator, in the state of a server of this machine. For root alone, and for the
// hour in which oyatd does not answer or is not believed.
class KeeperDoor {
public:
    explicit KeeperDoor(const std::string& state);

    [[nodiscard]] bool is_there() const;  // and ours to open
    // One order and its answer. Throws Failure for one that can't be carried out.
    [[nodiscard]] wire::KeeperReply ask(wire::KeeperRequest order) const;

private:
    std::string directory_;
};

}  // namespace oyat::cli
