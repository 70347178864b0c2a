#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "cgroup/group.hpp"

namespace oyat::cgroup {

// Tells which groups the kernel killed in for want of memory. One pollable descriptor for all of them: a v2
// machine allows 128 inotify instances per user, so one per sandbox would not do. The Parent must outlive it.
class OomWatch {
public:
    explicit OomWatch(const Parent& parent);

    // Readable when `take()` has something to say.
    [[nodiscard]] int fd() const noexcept { return fd_.get(); }

    void add(const Group& group);
    void remove(std::string_view name) noexcept;  // before the group is destroyed

    // The groups whose memory events changed since the last call. A hint, not a count: the caller compares
    // `Group::stats().oom_kills` with what it knew.
    [[nodiscard]] std::vector<std::string> take();

private:
    void add_v1(const std::string& name);
    [[nodiscard]] std::vector<int> ready_v1() const;
    [[nodiscard]] std::vector<int> ready_v2() const;

    const Parent* parent_;
    Fd fd_;                             // v2: inotify; v1: epoll over one eventfd a group
    std::map<int, std::string> names_;  // by inotify watch or by eventfd
    std::map<int, Fd> events_;          // v1 only
};

}  // namespace oyat::cgroup
