#pragma once

#include <cstdint>
#include <functional>

#include "layers/archive_rules.hpp"

namespace oyat::layers {

struct ArchiveProgress {
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;
};
using OnArchiveProgress = std::function<void(const ArchiveProgress&)>;

// Must be called once before confine_to(): the archive library's conversion of names is set up while the
// host's files are still there.
void prepare_for_archives();

// Unpacks a tar (plain, gzip, xz, zstd) into the working directory, which is the caller's root and empty.
// Owners, modes, times, hard links and the attributes of a template are restored. Throws at the first entry
// that breaks the rules; what was unpacked until then is the caller's to remove.
void unpack(int archive, const ArchiveCaps& caps, const OnArchiveProgress& on_progress);

}  // namespace oyat::layers
