#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

// What an archive may contain to become a template (threats J-04, F-07, X-14). Pure: an entry's facts in, a
// verdict out. One refused entry refuses the archive.
namespace oyat::layers {

struct ArchiveCaps {
    std::uint64_t entries = 2'000'000;
    std::uint64_t bytes = std::uint64_t{32} << 30;  // of all files together
    std::uint64_t ratio = 200;                      // bytes out for each byte in, beyond `free_bytes`
    std::uint64_t free_bytes = 16 << 20;
};

// The path of an entry (or of a hard link's target) below the root: without "./" in front and "/" behind, "."
// for the root itself. Refused: absolute, with "..", empty or NUL parts, longer than 4,000 bytes or deeper
// than 200.
[[nodiscard]] Result<std::string> path_in_root(std::string_view path);

// A symlink's target is never followed here, so any text will do that fits a link.
[[nodiscard]] Result<void> check_link_target(std::string_view target);

enum class XattrFate { keep, drop, refuse };

// File capabilities and user attributes belong to a template. trusted.* steers overlays, and would let a
// template point into other layers: refused. Labels of other machines' security modules mean nothing here:
// dropped.
[[nodiscard]] XattrFate fate_of_xattr(std::string_view name) noexcept;

// Regular files, directories, symlinks and FIFOs; no device node, no socket. `mode` as of stat(2).
[[nodiscard]] Result<void> check_type(std::uint32_t mode);

// Ids beyond 65,535 have no place in a sandbox's range.
[[nodiscard]] Result<void> check_owner(std::int64_t uid, std::int64_t gid);

// What has come out so far, against what went in.
[[nodiscard]] Result<void> check_volume(const ArchiveCaps& caps, std::uint64_t entries,
                                        std::uint64_t bytes_out, std::uint64_t bytes_in);

// A name as it may stand in a message: at most 200 characters, everything but printable ASCII as \xNN.
[[nodiscard]] std::string printable(std::string_view name);

}  // namespace oyat::layers
