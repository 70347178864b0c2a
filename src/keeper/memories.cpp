#include "keeper/memories.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/throwing.hpp"
#include "layers/directory.hpp"
#include "layers/tree_copy.hpp"

namespace oyat::keeper {
namespace {

constexpr std::string_view kUnfinished = ".new";

std::string unfinished(std::string_view id) {
    return std::string{id} + std::string{kUnfinished};
}

}  // namespace

Memories::Memories(const std::string& dir) : dir_{layers::make_directory(AT_FDCWD, dir, 0700)} {}

Fd Memories::begin(std::string_view id) const {
    return in("memory", [&] {
        layers::remove_tree(dir_.get(), unfinished(id));
        return layers::make_directory(dir_.get(), unfinished(id), 0700);
    });
}

void Memories::keep(std::string_view id) const {
    in("memory", [&] {
        const std::string name{id};
        sys(::fsync(layers::open_directory(dir_.get(), unfinished(id)).get()), "sync");
        layers::remove_tree(dir_.get(), name);
        sys(::renameat(dir_.get(), unfinished(id).c_str(), dir_.get(), name.c_str()), "rename");
        sys(::fsync(dir_.get()), "sync");
    });
}

void Memories::copy(std::string_view from, std::string_view to) const {
    const Fd source = open(from);
    const Fd target = begin(to);
    layers::copy_tree(source.get(), target.get());
    for (const std::string& name : layers::names_in(target.get())) {
        const Fd file{
            sys(::openat(target.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC), "open memory")};
        sys(::fsync(file.get()), "sync memory");
    }
    keep(to);
}

Fd Memories::open(std::string_view id) const {
    return layers::open_directory(dir_.get(), std::string{id});
}

bool Memories::has(std::string_view id) const {
    struct stat facts{};
    return ::fstatat(dir_.get(), std::string{id}.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0;
}

std::uint64_t Memories::bytes(std::string_view id) const {
    if (!has(id)) return 0;
    const Fd directory = open(id);
    std::uint64_t bytes = 0;
    for (const std::string& name : layers::names_in(directory.get())) {
        struct stat facts{};
        if (::fstatat(directory.get(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0)
            bytes += static_cast<std::uint64_t>(facts.st_blocks) * 512;
    }
    return bytes;
}

void Memories::remove(std::string_view id) const {
    layers::remove_tree_and_rests(dir_.get(), unfinished(id));
    layers::remove_tree_and_rests(dir_.get(), std::string{id});
}

std::vector<std::string> Memories::ids() const {
    std::vector<std::string> ids = layers::names_in(dir_.get());
    for (std::string& id : ids) {
        id = layers::without_rest_number(id);
        if (id.ends_with(kUnfinished)) id.resize(id.size() - kUnfinished.size());
    }
    std::ranges::sort(ids);
    const auto twice = std::ranges::unique(ids);
    ids.erase(twice.begin(), twice.end());
    return ids;
}

}  // namespace oyat::keeper
