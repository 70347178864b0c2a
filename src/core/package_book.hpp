#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "core/package_trail.hpp"
#include "packages/listing.hpp"

namespace oyat::core {

struct InstalledPackage {
    packages::Package package;
    WallTime seen{};
    std::vector<std::string> commands;  // that may have installed it, by their ids; most often one
    std::vector<std::string> sources;   // hosts that it may have come from
};

// What stands in one sandbox, from one look to the next.
class PackageBook {
public:
    struct Change {
        std::vector<InstalledPackage> added;
        std::vector<packages::Package> removed;
        [[nodiscard]] bool empty() const { return added.empty() && removed.empty(); }
    };
    // What is found that was not there before came by what the trail says. Nothing counts as removed after a
    // look that was not complete.
    [[nodiscard]] Change take(packages::Listing listing, const PackageTrail& trail, WallTime now);

    [[nodiscard]] std::vector<InstalledPackage> all() const;
    [[nodiscard]] bool complete() const { return complete_; }
    [[nodiscard]] std::size_t odd() const { return odd_; }

    // For the store. What can't be read leaves the book empty: the next look fills it.
    [[nodiscard]] std::string to_text() const;
    void restore(std::string_view text);

private:
    struct Entry {
        WallTime seen{};
        std::vector<std::string> commands, sources;
    };
    std::map<packages::Package, Entry> known_;
    bool complete_ = true;
    std::size_t odd_ = 0;
};

}  // namespace oyat::core
