#include "layers/id_range.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/throwing.hpp"
#include "layers/directory.hpp"

namespace oyat::layers {
namespace {

constexpr const char* kKeeperLock = "keeper-";

std::string name_of(std::uint32_t base) {
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "%08x", base);
    return text.data();
}

// The range that a claim's file name stands for, or 0 for other files.
std::uint32_t base_of(const std::string& name) {
    if (name.size() != 8 || name.find_first_not_of("0123456789abcdef") != std::string::npos) return 0;
    return static_cast<std::uint32_t>(std::stoul(name, nullptr, 16));
}

Fd open_lock(int dir, const std::string& name) {
    return Fd{sys(::openat(dir, name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600), "open lock " + name)};
}

// Held while claims of others are judged, and while a keeper announces itself: so no keeper appears in the
// middle of a judgement that it has none.
Fd lock_shared_dir(int dir) {
    Fd lock = open_lock(dir, "lock");
    sys(::flock(lock.get(), LOCK_EX), "lock uid claims");
    return lock;
}

// The ranges that any process of the machine has its real user id in.
std::set<std::uint32_t> ranges_in_use() {
    std::set<std::uint32_t> used;
    for (const auto& entry : std::filesystem::directory_iterator{"/proc"}) {
        if (entry.path().filename().string().find_first_not_of("0123456789") != std::string::npos) continue;
        std::ifstream status{entry.path() / "status"};
        for (std::string line; std::getline(status, line);) {
            if (!line.starts_with("Uid:")) continue;
            used.insert(static_cast<std::uint32_t>(std::stoul(line.substr(4))) & ~(IdRange::kSize - 1));
            break;
        }
    }
    return used;
}

}  // namespace

IdRanges::IdRanges(const std::string& shared_dir, std::string state_id) : state_id_{std::move(state_id)} {
    in("open uid claims", [&] {
        std::filesystem::create_directories(shared_dir);
        dir_ = Fd{sys(::open(shared_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open " + shared_dir)};
        const Fd lock = lock_shared_dir(dir_.get());
        keeper_lock_ = open_lock(dir_.get(), kKeeperLock + state_id_);
        if (::flock(keeper_lock_.get(), LOCK_EX | LOCK_NB) != 0) {
            throw Error{Errc::failed_precondition, "another keeper of this state runs"};
        }
        sys(::pwrite(keeper_lock_.get(), state_id_.data(), state_id_.size(), 0), "name the owner of claims");
        for (const std::string& name : names_in(dir_.get())) {
            if (base_of(name) != 0 && owner_of(name) == state_id_) free_.insert(base_of(name));
        }
    });
}

IdRange IdRanges::take() {
    if (free_.empty()) {
        while (next_ <= IdRange::kLast && !claim(next_)) next_ += IdRange::kSize;
    }
    if (free_.empty()) {
        release_stale();
        for (next_ = IdRange::kFirst; next_ <= IdRange::kLast && !claim(next_);) next_ += IdRange::kSize;
    }
    if (free_.empty()) throw Error{Errc::exhausted, "all host uid ranges are in use"};
    return range(*free_.begin());
}

IdRange IdRanges::adopt(std::uint32_t base) {
    return in("adopt uid range", [&] {
        if (base < IdRange::kFirst || base > IdRange::kLast || base % IdRange::kSize != 0) {
            throw Error{Errc::invalid_argument, "not a range of ours"};
        }
        if (!free_.contains(base) && !claim(base)) {
            throw Error{Errc::failed_precondition, "the range is used twice or belongs to another server"};
        }
        return range(base);
    });
}

// Takes a range out of the free ones; its user namespace is made at its first use.
IdRange IdRanges::range(std::uint32_t base) {
    auto found = userns_.find(base);
    if (found == userns_.end()) found = userns_.emplace(base, maker_.make(base)).first;
    free_.erase(base);
    return {.base = base, .userns = found->second.get()};
}

void IdRanges::give_back(const IdRange& range) noexcept {
    free_.insert(range.base);
}

void IdRanges::release_unused() noexcept {
    for (const std::uint32_t base : std::exchange(free_, {})) {
        userns_.erase(base);
        ::unlinkat(dir_.get(), name_of(base).c_str(), 0);
    }
    next_ = IdRange::kFirst;
}

// One more name of the file that bears our id: a claim has its owner as soon as it is there, also when we are
// killed right then or the disk is full.
bool IdRanges::claim(std::uint32_t base) {
    const std::string own = kKeeperLock + state_id_;
    if (::linkat(dir_.get(), own.c_str(), dir_.get(), name_of(base).c_str(), 0) != 0) {
        if (errno == EEXIST) return false;
        throw errno_error(errno, "claim uid range");
    }
    free_.insert(base);
    return true;
}

void IdRanges::release_stale() {
    in("take over stale uid claims", [&] {
        const Fd lock = lock_shared_dir(dir_.get());
        const std::set<std::uint32_t> used = ranges_in_use();
        for (const std::string& name : names_in(dir_.get())) {
            const std::uint32_t base = base_of(name);
            const std::string owner = base == 0 ? "" : owner_of(name);
            if (owner.empty() || owner == state_id_ || used.contains(base)) continue;
            const Fd keeper = open_lock(dir_.get(), kKeeperLock + owner);
            if (::flock(keeper.get(), LOCK_EX | LOCK_NB) == 0) ::unlinkat(dir_.get(), name.c_str(), 0);
        }
    });
}

// Empty for what is no claim.
std::string IdRanges::owner_of(const std::string& claim) const {
    const Fd file{::openat(dir_.get(), claim.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
    std::array<char, 64> text{};
    const ssize_t got = file ? ::read(file.get(), text.data(), text.size()) : 0;
    return {text.data(), static_cast<std::size_t>(got > 0 ? got : 0)};
}

}  // namespace oyat::layers
