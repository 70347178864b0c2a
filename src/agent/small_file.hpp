#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace oyat::agent {

// For files of the kernel: they are short, and take a value in one write. `directory` as for openat(2).

// At most `most` bytes and a little; what cannot be read is empty.
[[nodiscard]] std::string read_small_file(int directory, const char* name, std::size_t most);
[[nodiscard]] bool write_small_file(int directory, const char* name, std::string_view value);

}  // namespace oyat::agent
