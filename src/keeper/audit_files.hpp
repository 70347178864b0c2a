#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.hpp"

namespace oyat::keeper {

// The record's files, `<state>/audit/<name>.<segment>.log`. oyatd may append to them through descriptors made
// here and may read them; it can neither change nor remove what is written, also when an attacker has taken
// it over (threats I5, D-13): the files are root's, opened for appending, and append-only where the file
// system knows that.
class AuditFiles {
public:
    static constexpr std::chrono::hours kRetention{30 * 24};
    static constexpr std::uint64_t kRetainedBytes = 10ull << 30;

    AuditFiles(const std::string& dir, gid_t readers, std::uint64_t retained_bytes = kRetainedBytes);

    [[nodiscard]] Fd open(std::string_view name, std::uint32_t segment) const;
    // Refuses a segment that was written to within the retention, unless there is more than is retained that
    // is younger: the newest 10 GiB are kept for 30 days.
    void drop(std::string_view name, std::uint32_t segment) const;

private:
    [[nodiscard]] std::uint64_t bytes_younger_than(std::chrono::system_clock::time_point written) const;

    Fd dir_;
    gid_t readers_;
    std::uint64_t retained_bytes_;
};

// [a-z0-9-]{1,40}: the only free words that oyatd may send.
[[nodiscard]] bool is_plain_name(std::string_view text) noexcept;

}  // namespace oyat::keeper
