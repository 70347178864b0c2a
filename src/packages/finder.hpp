#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "packages/listing.hpp"

namespace oyat::packages {

// How much a search looks at before it gives up the rest. What a sandbox may hold is far more.
struct SearchLimits {
    std::size_t entries = 500'000;
    std::size_t packages = Listing::kMaxPackages;
    std::size_t depth = 64;
    std::uint64_t bytes = 256u << 20;
    std::chrono::milliseconds time{20'000};
};

// Debian packages as "NAME VERSION".
using DebianSet = std::set<std::string, std::less<>>;

// What dpkg says below `root`: what a template brings along. Nothing when it has no dpkg.
[[nodiscard]] DebianSet installed_debian(int root);

// The packages that stand below `root`, which holds the changed files of a sandbox; of Debian's those that
// are not among `shipped`: its list of them is one file, which changes as a whole. The tree is a hostile
// one and may change meanwhile: no link is followed, nothing but regular files is opened, and of each no more
// is read than metadata.hpp says. What can't be opened is not there.
[[nodiscard]] Listing find_packages(int root, const DebianSet& shipped, const SearchLimits& limits = {});

}  // namespace oyat::packages
