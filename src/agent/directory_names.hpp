#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace oyat::agent {

// Reads a piece of an open directory with `buffer` and calls back with each name ("." and ".." apart) and its
// type (DT_DIR and so on, or DT_UNKNOWN). 0 at the end, -1 with errno.
int read_directory(int directory, char* buffer, std::size_t size,
                   const std::function<void(std::string_view name, unsigned char type)>& callback);

// The names of a directory, to be taken out in byte order. A heap, not a sort: a sort of a million names
// would hold everybody else up, while here each name costs a little.
class DirectoryNames {
public:
    // Takes in a piece, like read_directory.
    int read_from(int directory, char* buffer, std::size_t size);
    // After the last read.
    void arrange();

    [[nodiscard]] bool empty() const { return heap_.empty(); }
    [[nodiscard]] std::size_t bytes() const { return text_.size() + heap_.size() * sizeof heap_[0]; }
    // The first of those that are left. It stays valid until the next read.
    [[nodiscard]] const char* take_first();
    // Any of them, without arrange().
    [[nodiscard]] const char* take_any();

private:
    std::string text_;                 // the names, each with a NUL behind it
    std::vector<std::uint32_t> heap_;  // where each begins
};

}  // namespace oyat::agent
