#pragma once

#include <set>
#include <string>

#include "keeper/boxes.hpp"

namespace oyat::keeper {

// What the next keeper of a state does first: it takes up every sandbox that lives and was handed out, keeps
// the disk of those that were paused or stored, and destroys everything else that bears the state's name. It
// finds both in the records and in the kernel's own lists, so a keeper may have been killed between any two
// instructions.
class Recovery {
public:
    Recovery(const Rooms& rooms, BoxFactory& factory) : rooms_{rooms}, factory_{factory} {}

    // Call before the first box is made. Waits for the ends of processes, at most a few seconds.
    struct Outcome {
        std::size_t adopted = 0;
        std::size_t destroyed = 0;
        std::size_t stored = 0;  // of which the disk is there
    };
    Outcome run(Boxes& boxes);

private:
    [[nodiscard]] std::set<std::string> known_names() const;
    enum class Extent { everything, what_runs };
    [[nodiscard]] bool keeps_its_disk(const BoxRecord& record) const;
    void destroy(const std::set<std::string>& names, Extent extent);
    [[nodiscard]] bool gone(const std::string& name, Extent extent);

    const Rooms& rooms_;
    BoxFactory& factory_;
};

}  // namespace oyat::keeper
