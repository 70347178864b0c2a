#include "engine/microvm/memory_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/throwing.hpp"
#include "engine/microvm/files.hpp"
#include "layers/copy_file.hpp"

namespace oyat::microvm {
namespace {

constexpr std::size_t kMostKept = 4;
constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

bool is_filled(int memory) {
    return (sys(::fcntl(memory, F_GET_SEALS), "look at a memory file") & F_SEAL_WRITE) != 0;
}

}  // namespace

Fd make_memory_file() {
    return Fd{sys(::memfd_create("oyat-memory", MFD_CLOEXEC | MFD_ALLOW_SEALING), "make a memory file")};
}

void fill_memory_file(int memory, const std::string& from, std::uint64_t bytes) {
    if (is_filled(memory)) return;
    const Fd saved = open_file(from, O_RDONLY);
    // Opened anew, so the lock is not shared with the other children that have the memory file.
    sys(::flock(saved.get(), LOCK_EX), "lock " + from);
    if (is_filled(memory)) return;
    struct stat status{};
    sys(::fstat(saved.get(), &status), "stat " + from);
    if (std::cmp_not_equal(status.st_size, bytes)) {
        throw Error{Errc::failed_precondition, Fault::engine,
                    "the saved memory has another size than its machine"};
    }
    layers::copy_file(saved.get(), memory);
    sys(::fcntl(memory, F_ADD_SEALS, kSeals), "seal a memory file");
}

int MemoryShelf::file_for(const std::string& key) {
    auto found = kept_.find(key);
    if (found == kept_.end()) {
        if (kept_.size() == kMostKept) {
            kept_.erase(
                std::ranges::min_element(kept_, {}, [](const auto& each) { return each.second.last_use; }));
        }
        found = kept_.emplace(key, Kept{.file = make_memory_file()}).first;
    }
    found->second.last_use = ++uses_;
    return found->second.file.get();
}

}  // namespace oyat::microvm
