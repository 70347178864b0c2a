#include "core/engines.hpp"

#include <algorithm>
#include <array>

namespace oyat::core {
namespace {

constexpr std::array<std::string_view, 3> kNames{"jail", "gvisor", "microvm"};  // from weak to strong

Error none_will_do(std::string sentence) {
    return Error{Errc::failed_precondition, Fault::engine, std::move(sentence)};
}

}  // namespace

int strength(std::string_view boundary) {
    if (boundary == "shared-kernel") return 1;
    if (boundary == "userspace-kernel") return 2;
    if (boundary == "own-kernel") return 3;
    return 0;
}

Task<> Engines::refresh() {
    engines_ = (co_await keeper_.info()).engines;
}

bool Engines::may_do(const std::string& engine) const {
    if (const EngineFacts* facts = find(engine.empty() ? std::string{kNames.front()} : engine))
        return facts->available;
    return std::ranges::all_of(engines_, &EngineFacts::available);
}

const EngineFacts* Engines::find(const std::string& name) const {
    const auto found = std::ranges::find(engines_, name, &EngineFacts::name);
    return found == engines_.end() ? nullptr : &*found;
}

bool Engines::can(const std::string& engine, std::string_view capability) const {
    const EngineFacts* facts = find(engine);
    return facts != nullptr &&
           std::ranges::find(facts->capabilities, capability) != facts->capabilities.end();
}

std::string Engines::available() const {
    std::string all;
    for (const EngineFacts& each : engines_) {
        if (!each.available) continue;
        all += (all.empty() ? "" : ", ") + each.name + " (" + each.boundary +
               (each.emulated ? ", emulated)" : ")");
    }
    return all.empty() ? "none" : all;
}

std::string Engines::choose(const IsolationWish& wish) const {
    const int least = strength(wish.minimum_boundary);
    // An emulator was not made to hold back who attacks it: its boundary is no more than the host's own
    // kernel.
    const auto strength_of = [&](const EngineFacts& each) {
        return each.emulated && !wish.allow_emulated ? strength("shared-kernel") : strength(each.boundary);
    };
    const auto will_do = [&](const EngineFacts* each) {
        return each != nullptr && each->available && strength_of(*each) >= least;
    };
    if (!wish.engine.empty() && wish.engine != "auto") {
        if (std::ranges::find(kNames, wish.engine) == kNames.end()) {
            throw Error{Errc::invalid_argument,
                        "there is no isolation '" + wish.engine + "': it is jail, gvisor, microvm or auto"};
        }
        const EngineFacts* named = find(wish.engine);
        if (named == nullptr || !named->available) {
            std::string why = named == nullptr || named->reason.empty() ? "" : ": " + named->reason;
            throw none_will_do("the isolation " + wish.engine + " is not available on this machine" + why +
                               "; there is " + available());
        }
        if (will_do(named)) return wish.engine;
        throw none_will_do("the isolation " + wish.engine + " has the boundary " + named->boundary +
                           (named->emulated ? " by an emulator, which counts as shared-kernel" : "") +
                           ", weaker than the " + wish.minimum_boundary + " asked for; there is " +
                           available());
    }
    const EngineFacts* strongest = find("microvm");
    if (wish.engine == "auto" && will_do(strongest) && !strongest->emulated) return "microvm";
    for (const std::string_view name : kNames) {
        if (will_do(find(std::string{name}))) return std::string{name};
    }
    if (least == 0) throw none_will_do("no engine is available on this machine");
    throw none_will_do("no engine of this machine has a boundary as strong as the " + wish.minimum_boundary +
                       " asked for; there is " + available());
}

}  // namespace oyat::core
