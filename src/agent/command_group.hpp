#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.hpp"

namespace oyat::agent {

// One command's own cgroup (v2), below the directory that the keeper gave: what holds every process of the
// command together, also those that left its session or whose parents are gone. Empty where the engine gives
// no directory.
class CommandGroup {
public:
    CommandGroup() = default;

    explicit operator bool() const { return static_cast<bool>(directory_); }
    [[nodiscard]] int directory() const { return directory_.get(); }

    // SIGKILL to all of them, also to those that are being forked right now.
    void kill();
    // Any other signal, to each that is there.
    void signal(int number) const;
    [[nodiscard]] std::uint64_t cpu_us() const;

private:
    friend class CommandGroups;
    [[nodiscard]] bool is_pristine() const;

    CommandGroup(std::string name, Fd directory) : name_{std::move(name)}, directory_{std::move(directory)} {}

    std::string name_;
    Fd directory_;
    std::uint64_t cpu_before_us_ = 0;  // of the commands that had the group earlier
    bool killed_ = false;
};

// Makes the groups and takes them away once nothing runs in them; one is kept for the next command, because
// making and removing it costs as much as a fifth of a short command.
class CommandGroups {
public:
    // `parent` may be absent; then all groups are empty.
    explicit CommandGroups(Fd parent) : parent_{std::move(parent)} {}

    [[nodiscard]] int parent() const { return parent_.get(); }
    [[nodiscard]] CommandGroup make();
    // The command has ended; its group goes when what it left running has ended too.
    void retire(CommandGroup group);
    // Something that no command waits for has ended: perhaps the last one of a retired group.
    void sweep();

private:
    [[nodiscard]] bool remove(const CommandGroup& group) const;
    [[nodiscard]] bool reuse(CommandGroup& group);

    Fd parent_;
    std::uint64_t next_ = 1;
    std::vector<CommandGroup> retired_;
    CommandGroup spare_;
    std::size_t swept_ = 0;
};

}  // namespace oyat::agent
