#pragma once

#include <string>
#include <vector>

#include "core/keeper.hpp"

namespace oyat::core {

// Boundaries from weak to strong; 0 for a word that is none.
[[nodiscard]] int strength(std::string_view boundary);

// What is asked of the wall around a sandbox.
struct IsolationWish {
    std::string engine;            // "": the server's choice; "auto": the strongest that is fast here
    std::string minimum_boundary;  // "": any
    bool allow_emulated = false;   // a boundary that an emulator makes counts like one that is not
};

// The engines of this machine, as the keeper described them last.
class Engines {
public:
    explicit Engines(Keeper& keeper) : keeper_{keeper} {}

    Task<> refresh();
    [[nodiscard]] bool known() const { return !engines_.empty(); }
    // False for an engine of this machine that was off: it may have been in the middle of being tried out.
    // "": the weakest; "auto": false when any was off.
    [[nodiscard]] bool may_do(const std::string& engine) const;
    [[nodiscard]] const EngineFacts* find(const std::string& name) const;  // null: there is none
    [[nodiscard]] bool can(const std::string& engine, std::string_view capability) const;
    // The engine for a wish. Throws Error{invalid_argument} for a word that names none, and
    // Error{failed_precondition}, with what is there, when this machine has none that will do.
    [[nodiscard]] std::string choose(const IsolationWish& wish) const;

private:
    [[nodiscard]] std::string available() const;

    Keeper& keeper_;
    std::vector<EngineFacts> engines_;
};

}  // namespace oyat::core
