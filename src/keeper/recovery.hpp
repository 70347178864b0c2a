#pragma once

#include <set>
#include <string>

#include "keeper/boxes.hpp"

namespace oyat::keeper {

// What the next keeper of a state does first: it takes up every sandbox that lives and was handed out, and
// destroys everything else that bears the state's name. It finds both in the records and in the kernel's own
// lists, so a keeper may have been killed between any two instructions.
class Recovery {
public:
    Recovery(const BoxFactory::Rooms& rooms, BoxFactory& factory) : rooms_{rooms}, factory_{factory} {}

    // Call before the first box is made. Waits for the ends of processes, at most a few seconds.
    struct Outcome {
        std::size_t adopted = 0;
        std::size_t destroyed = 0;
    };
    Outcome run(Boxes& boxes);

private:
    [[nodiscard]] std::set<std::string> known_names() const;
    void destroy(const std::set<std::string>& names);
    [[nodiscard]] bool gone(const std::string& name);

    const BoxFactory::Rooms& rooms_;
    BoxFactory& factory_;
};

}  // namespace oyat::keeper
