#pragma once

#include <cstdint>
#include <string>

#include "base/fd.hpp"

namespace oyat::keeperlink {

// The memory that a list of packages comes in. The child that writes it reads hostile files, so its size is
// sealed: it can fill the file, and no more of the machine's memory.
class PackageFile {
public:
    PackageFile();

    // Another descriptor of it.
    [[nodiscard]] Fd for_the_keeper() const;
    // Its first bytes, at most all of them.
    [[nodiscard]] std::string text(std::uint64_t bytes) const;

private:
    Fd file_;
};

}  // namespace oyat::keeperlink
