#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"

namespace oyat::layers {

// Where a store's boxes stand in its file system: `boxes/ID`, and `trash/ID` from their discarding to their
// removal.
class Shelf {
public:
    // Makes the two directories in `root` if they are absent.
    explicit Shelf(int root);

    [[nodiscard]] int boxes() const noexcept { return boxes_.get(); }
    [[nodiscard]] int trash() const noexcept { return trash_.get(); }

    [[nodiscard]] std::vector<std::string> box_names() const;
    [[nodiscard]] std::vector<std::string> trash_names() const;

    // Moves `name` from the boxes to the trash, if it is there.
    void discard(const std::string& name) const;

    // `u` and `w` in an empty box.
    static void furnish(int box);

private:
    Fd boxes_;
    Fd trash_;
};

// Throws `invalid_argument` unless the id is [a-z0-9-]{1,40}: it becomes a file name.
void check_box_id(std::string_view id);

}  // namespace oyat::layers
