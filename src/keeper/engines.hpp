#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/throwing.hpp"
#include "engine/common/engine.hpp"

namespace oyat::keeper {

// The kinds of boundary that this keeper has, in the order in which it tells them.
class Engines {
public:
    explicit Engines(std::vector<engine::Engine*> all) : all_{std::move(all)} {}

    [[nodiscard]] const std::vector<engine::Engine*>& all() const noexcept { return all_; }

    // Throws `unimplemented` for a name that there is not, and `unavailable` for one that does not work here.
    [[nodiscard]] engine::Engine& working(std::string_view name) const {
        engine::Engine& engine = named(name);
        if (const wire::EngineInfo info = engine.info(); !info.available) {
            throw Error{Errc::unavailable, Fault::engine, info.name + " is off here: " + info.reason};
        }
        return engine;
    }

    // Of a sandbox that exists.
    [[nodiscard]] engine::Engine& named(std::string_view name) const {
        std::string have;
        for (engine::Engine* engine : all_) {
            const std::string each = engine->info().name;
            if (each == name) return *engine;
            have += (have.empty() ? "" : ", ") + each;
        }
        throw Error{Errc::unimplemented, "there is no engine '" + std::string{name} + "'; there is " + have};
    }

private:
    std::vector<engine::Engine*> all_;
};

}  // namespace oyat::keeper
