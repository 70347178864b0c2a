#pragma once

#include <string>
#include <vector>

#include "agent/directory_names.hpp"
#include "agent/loop.hpp"
#include "agent/places.hpp"
#include "base/fd.hpp"

namespace oyat::agent {

// Removes a file or a whole tree from its leaves up, in small strokes, each within an ActingAs.
class TreeRemoval {
public:
    // `path` is for messages.
    TreeRemoval(Loop& loop, Place place, std::string path)
        : loop_{loop}, place_{std::move(place)}, path_{std::move(path)} {}

    [[nodiscard]] bool done() const { return done_; }
    // One more name. A refusal is final; not_found when there was nothing at all.
    [[nodiscard]] Status advance();

private:
    struct Level {
        Fd directory;
        std::string name;  // in the level above
        DirectoryNames names;
        int rounds = 0;
    };

    Status start();
    Status take_name(Level& level);
    Status enter(int parent, const char* name);
    Status leave();
    [[nodiscard]] Status refuse(int err, const char* name) const;

    Loop& loop_;
    Place place_;
    std::string path_;
    bool started_ = false;
    bool done_ = false;
    std::vector<Level> levels_;
};

}  // namespace oyat::agent
