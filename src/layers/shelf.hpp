#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"

namespace oyat::layers {

// Where a store's boxes stand in its file system: `boxes/ID`, copies of them that never change in `saved/ID`,
// and both in `trash/ID` from their discarding to their removal.
class Shelf {
public:
    // Makes the directories in `root` if they are absent.
    explicit Shelf(int root);

    [[nodiscard]] int boxes() const noexcept { return boxes_.get(); }
    [[nodiscard]] int saved() const noexcept { return saved_.get(); }
    [[nodiscard]] int trash() const noexcept { return trash_.get(); }

    [[nodiscard]] std::vector<std::string> box_names() const;
    [[nodiscard]] std::vector<std::string> saved_names() const;
    [[nodiscard]] std::vector<std::string> trash_names() const;

    // Moves `name` from the boxes to the trash, if it is there.
    void discard(const std::string& name) const;
    // The same for a saved copy.
    void drop(const std::string& name) const;

    // `u` and `w` in an empty box.
    static void furnish(int box);
    // An empty `w` in place of one that an overlay has worked in.
    static void renew_work(int box);

private:
    void move_to_trash(int from, const std::string& name) const;

    Fd boxes_;
    Fd saved_;
    Fd trash_;
};

// Throws `invalid_argument` unless the id is [a-z0-9-]{1,40}: it becomes a file name.
void check_box_id(std::string_view id);

}  // namespace oyat::layers
