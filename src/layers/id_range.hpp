#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "base/fd.hpp"
#include "layers/user_namespace.hpp"

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
// for the next sandbox, with its user namespace (0.1 ms to make), until `release_unused()`. The claims of a
// state without a keeper are stale where no process of the range lives; they are taken over when ranges run
// short.
class IdRanges {
public:
    // Throws `failed_precondition` when another keeper of this state runs.
    IdRanges(const std::string& shared_dir, std::string state_id);
    IdRanges(const IdRanges&) = delete;
    IdRanges& operator=(const IdRanges&) = delete;

    // Throws `exhausted` when all 4,096 are in use.
    [[nodiscard]] IdRange take();
    // The range of a sandbox that a former keeper of this state started. Call for all of them before the
    // first take().
    IdRange adopt(std::uint32_t base);
    // The sandbox is dead and reaped.
    void give_back(const IdRange& range) noexcept;
    // Ends the claims that no sandbox uses: at a clean stop, and once after adoption.
    void release_unused() noexcept;

private:
    bool claim(std::uint32_t base);
    void release_stale();
    IdRange range(std::uint32_t base);
    [[nodiscard]] std::string owner_of(const std::string& claim) const;

    std::string state_id_;
    Fd dir_;
    Fd keeper_lock_;  // held for life: says that this state has a keeper
    UserNamespaces maker_;
    std::map<std::uint32_t, Fd> userns_;  // by range, as long as it is ours
    std::set<std::uint32_t> free_;        // ours, and no sandbox uses it
    std::uint32_t next_ = IdRange::kFirst;
};

}  // namespace oyat::layers
