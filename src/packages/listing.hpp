#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "packages/package.hpp"

namespace oyat::packages {

// What a search found.
struct Listing {
    static constexpr std::size_t kMaxPackages = 20'000;
    static constexpr std::size_t kMaxBytes = 4u << 20;  // as text

    std::vector<Package> packages;
    bool complete = true;  // false: there was more than a search looks at
    std::size_t odd = 0;   // of these the name or version is nothing that is shown
};

// As text, in which the child that searched hands it over: it reads hostile files, so nothing is taken from
// it that has not been looked at once more. Packages that do not fit into kMaxBytes are left out, and it is
// not complete then.
[[nodiscard]] std::string to_text(const Listing& listing);
[[nodiscard]] Result<Listing> read_listing(std::string_view text);

}  // namespace oyat::packages
