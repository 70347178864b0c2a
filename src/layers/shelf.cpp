#include "layers/shelf.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/id.hpp"
#include "base/throwing.hpp"
#include "layers/directory.hpp"

namespace oyat::layers {
namespace {

void make_room(int box, const char* name) {
    sys(::mkdirat(box, name, 0755), "mkdir in box");
    sys(::fchmodat(box, name, 0755, 0), "chmod in box");  // whatever the umask
}

}  // namespace

Shelf::Shelf(int root)
    : boxes_{make_directory(root, "boxes", 0700)},
      saved_{make_directory(root, "saved", 0700)},
      trash_{make_directory(root, "trash", 0700)} {}

std::vector<std::string> Shelf::box_names() const {
    return names_in(boxes_.get());
}

std::vector<std::string> Shelf::saved_names() const {
    return names_in(saved_.get());
}

std::vector<std::string> Shelf::trash_names() const {
    return names_in(trash_.get());
}

void Shelf::discard(const std::string& name) const {
    move_to_trash(boxes_.get(), name);
}

void Shelf::drop(const std::string& name) const {
    move_to_trash(saved_.get(), name);
}

void Shelf::move_to_trash(int from, const std::string& name) const {
    if (::renameat(from, name.c_str(), trash_.get(), name.c_str()) == 0 || errno == ENOENT) return;
    if (errno == EEXIST || errno == ENOTEMPTY) {  // what had the name before has not been removed yet
        const std::string other = name + "-" + random_hex(4);
        if (::renameat(from, name.c_str(), trash_.get(), other.c_str()) == 0) return;
    }
    throw errno_error(errno, "move " + name + " to the trash");
}

void Shelf::furnish(int box) {
    for (const char* name : {"u", "w"}) make_room(box, name);
}

void Shelf::renew_work(int box) {
    remove_tree(box, "w");
    make_room(box, "w");
}

void check_box_id(std::string_view id) {
    const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
    if (id.empty() || id.size() > 40 || !std::ranges::all_of(id, fits)) {
        throw Error{Errc::invalid_argument, "a box's id is [a-z0-9-]{1,40}"};
    }
}

}  // namespace oyat::layers
