#pragma once

#include <cstdint>
#include <string>

#include "layers/disk.hpp"

namespace oyat::layers {

// Project quotas of ext4 and XFS: a directory gets a number, everything made below inherits it, and the
// kernel counts and limits what bears the number. Numbers are shared by all users of the file system, so a
// free one is looked for.
class ProjectQuota {
public:
    // `state_id` spreads the numbers of different servers over the range. Throws when `directory`'s file
    // system has no project quota in force.
    ProjectQuota(int directory, const std::string& state_id);

    // Gives the empty directory a number of its own with this limit.
    void enter(int directory, const DiskLimit& limit);
    void set_limit(int directory, const DiskLimit& limit) const;
    [[nodiscard]] DiskUse use(int directory) const;

    // Takes the limits of `number` away, after its tree is gone. Works on any directory of the file system.
    static void forget(int directory, std::uint32_t number);
    [[nodiscard]] static std::uint32_t number_of(int directory);

private:
    std::uint32_t next_;
};

}  // namespace oyat::layers
