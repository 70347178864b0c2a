#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

#include "agent/directory_names.hpp"
#include "agent/loop.hpp"
#include "agent/places.hpp"
#include "base/fd.hpp"

namespace oyat::agent {

// Copies a file or a whole tree, with modes, times, links, attributes and, where allowed, owners; in small
// strokes, each within an ActingAs. For moves that rename(2) refuses: a directory of a lower layer of an
// overlay, or another file system.
class TreeCopy {
public:
    // `from` and `to` are borrowed and outlive this object; the name in `to` is not there yet.
    TreeCopy(Loop& loop, const Place& from, const Place& to, std::string path)
        : loop_{loop}, from_{from}, to_{to}, path_{std::move(path)} {}

    [[nodiscard]] bool done() const { return done_; }
    [[nodiscard]] Status advance();

private:
    struct Level {
        Fd from;
        Fd to;
        DirectoryNames names;
        struct stat attributes{};
        bool read = false;
    };

    Status copy_name(int from, const char* from_name, int to, const char* to_name);
    Status start_file(int from, const char* from_name, int to, const char* to_name, const struct stat& found);
    Status copy_link(int from, const char* from_name, int to, const char* to_name, const struct stat& found);
    Status enter(int from, const char* from_name, int to, const char* to_name, const struct stat& found);
    Status continue_file();
    Status read_names(Level& level);
    void finish(int to, int from, const struct stat& attributes);

    Loop& loop_;
    const Place& from_;
    const Place& to_;
    std::string path_;
    bool started_ = false;
    bool done_ = false;
    std::vector<Level> levels_;
    Fd file_from_;
    Fd file_to_;
    struct stat file_attributes_{};
};

}  // namespace oyat::agent
