#include "agent/tree_removal.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace oyat::agent {
namespace {

constexpr std::size_t kMaxLevels = 1000;
// How often a directory is read again because it was not empty after all: somebody is filling it.
constexpr int kMaxRounds = 16;

}  // namespace

Status TreeRemoval::advance() {
    if (!started_) return start();
    Level& level = levels_.back();
    if (!level.names.empty()) return take_name(level);
    const int got = level.names.read_from(level.directory.get(), loop_.scratch(), Loop::kScratch);
    if (got < 0) return refuse(errno, nullptr);
    return got == 0 ? leave() : Status{};
}

Status TreeRemoval::start() {
    started_ = true;
    // A directory says EISDIR, as Linux has it; other kinds go at once.
    const int directory = place_.directory.get();
    if (::unlinkat(directory, place_.name.c_str(), 0) == 0) {
        done_ = true;
        return {};
    }
    return errno == EISDIR ? enter(directory, place_.name.c_str()) : refuse(errno, nullptr);
}

Status TreeRemoval::take_name(Level& level) {
    const char* const name = level.names.take_any();
    const int directory = level.directory.get();
    if (::unlinkat(directory, name, 0) == 0 || errno == ENOENT) return {};
    return errno == EISDIR ? enter(directory, name) : refuse(errno, name);
}

Status TreeRemoval::enter(int parent, const char* name) {
    const char* const shown = levels_.empty() ? nullptr : name;
    if (levels_.size() >= kMaxLevels) {
        return refusal(Errc::failed_precondition, "path " + quoted(path_) + " has more than 1000 levels");
    }
    if (::unlinkat(parent, name, AT_REMOVEDIR) == 0) {  // empty already
        done_ = levels_.empty();
        return {};
    }
    if (errno != ENOTEMPTY && errno != EEXIST) return refuse(errno, shown);
    Answer<Fd> directory = open_at(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!directory) return refuse(static_cast<int>(directory.error().err), shown);
    levels_.push_back({.directory = *std::move(directory), .name = name});
    return {};
}

Status TreeRemoval::leave() {
    Level& level = levels_.back();
    const bool is_root = levels_.size() == 1;
    const int parent = is_root ? place_.directory.get() : levels_[levels_.size() - 2].directory.get();
    if (::unlinkat(parent, level.name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
        // Removing while reading may have skipped names.
        if (errno != ENOTEMPTY || ++level.rounds > kMaxRounds) return refuse(errno, nullptr);
        ::lseek(level.directory.get(), 0, SEEK_SET);
        return {};
    }
    levels_.pop_back();
    done_ = is_root;
    return {};
}

// `name` is in the innermost directory; null stands for that directory itself.
Status TreeRemoval::refuse(int err, const char* name) const {
    std::string where = path_;
    for (std::size_t i = 1; i < levels_.size(); ++i) where += "/" + levels_[i].name;
    if (name != nullptr) where.append("/").append(name);
    return path_refusal(err, where);
}

}  // namespace oyat::agent
