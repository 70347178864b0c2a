#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "keeper/boxes.hpp"
#include "wire/keeper_messages.hpp"

namespace oyat::keeper {

// The operator's brakes: which of them hold for all sandboxes, in a small file that outlives the keeper and
// the machine's restart, and the orders to pull and lift them. What holds for one sandbox stands in its own
// record.
class Brakes {
public:
    Brakes(std::string file, std::string state_id, Boxes& boxes);

    // Boxes that a former keeper left running though it was told to hold all.
    void hold_again();

    using Reply = std::function<void(Result<wire::BrakeFacts>)>;
    // `done` hears when everything that the order names stands still, or won't for now. An Error that it
    // hears of is the disk's: the order is in force, but would not survive a restart.
    void pull(const wire::PullBrake& order, const Reply& done);
    [[nodiscard]] wire::BrakeFacts facts() const;
    // Throws while all sandboxes are held: a new one would be made to stand still.
    void require_release() const;

    // At the operator's own door, where oyatd does not see it.
    void note_killed(const std::string& id);

private:
    struct Kept {
        static constexpr bool kIsMessage = true;
        bool stopped = false;
        bool egress_off = false;
        std::vector<std::string> killed;
        template <class V>
        void fields(V& v) {
            v(1, stopped);
            v(2, egress_off);
            v(3, killed);
        }
    };
    void note(wire::Brake brake);
    [[nodiscard]] Result<void> keep() const;

    std::string file_;
    std::string state_id_;
    Boxes& boxes_;
    Kept kept_;
};

}  // namespace oyat::keeper
