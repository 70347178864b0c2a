#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"

namespace oyat::layers {

// 65,536 host user and group ids that belong to one sandbox: id N inside is `base + N` on the host.
struct IdRange {
    static constexpr std::uint32_t kFirst = 0x70000000;
    static constexpr std::uint32_t kLast = 0x7FFF0000;
    static constexpr std::uint32_t kSize = 0x10000;

    std::uint32_t base = 0;
    // A user namespace that maps exactly this range, for mount_setattr(MOUNT_ATTR_IDMAP). Borrowed from
    // IdRanges.
    int userns = -1;
};

// Hands out id ranges, so that no two living sandboxes of this machine share one, whichever server made them.
//
// A claim is a file in a directory that all servers share (/run/oyat/uids), named by the range, holding the
// state's id. It stays when the keeper is killed, because the sandboxes do. A range that comes back is kept
// for the next sandbox, with its user namespace (0.1 ms to make), until `release_unused()`. A claim of a
// state without a living keeper and without a process of that range is stale; it is taken over when ranges
// run short.
class IdRanges {
public:
    IdRanges(std::string shared_dir, std::string state_id);
    ~IdRanges();
    IdRanges(const IdRanges&) = delete;
    IdRanges& operator=(const IdRanges&) = delete;

    // Throws `exhausted` when all 4,096 are in use.
    [[nodiscard]] IdRange take();
    // The range of a sandbox that a former keeper of this state started. Call before the first take().
    IdRange adopt(std::uint32_t base);
    // The sandbox is dead and reaped.
    void give_back(const IdRange& range) noexcept;
    // Ends the claims that no sandbox uses: at a clean stop, and once after adoption.
    void release_unused() noexcept;

private:
    bool claim(std::uint32_t base);
    void take_over_stale();

    std::string dir_;
    std::string state_id_;
    Fd keeper_lock_;                      // held for life: says that claims of this state have a keeper
    std::map<std::uint32_t, Fd> userns_;  // of every range that this state has claimed and used
    std::vector<std::uint32_t> free_;
    std::uint32_t next_;
};

}  // namespace oyat::layers
