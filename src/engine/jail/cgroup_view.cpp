#include "engine/jail/cgroup_view.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "base/throwing.hpp"

namespace oyat::jail {
namespace {

using cgroup::Controller;

struct Shown {
    Controller controller;
    const char* directory;
    CgroupMount mount;
};

constexpr std::array kV1{
    Shown{Controller::memory, "fs/cgroup/memory", {"cgroup", "root/sys/fs/cgroup/memory", {"memory"}}},
    Shown{Controller::cpu, "fs/cgroup/cpu", {"cgroup", "root/sys/fs/cgroup/cpu", {"cpu"}}},
    Shown{Controller::cpuacct, "fs/cgroup/cpuacct", {"cgroup", "root/sys/fs/cgroup/cpuacct", {"cpuacct"}}},
    Shown{Controller::pids, "fs/cgroup/pids", {"cgroup", "root/sys/fs/cgroup/pids", {"pids"}}},
};
constexpr CgroupMount kCpuset{"cgroup", "root/sys/fs/cgroup/cpuset", {"cpuset"}};

bool exists(const std::string& path) {
    return ::access(path.c_str(), F_OK) == 0;
}

void copy_setting(const std::string& from, const std::string& to, const char* name) {
    std::array<char, 4096> text{};
    const Fd source{sys(::open((from + "/" + name).c_str(), O_RDONLY | O_CLOEXEC), "open a cpuset")};
    const ssize_t n = sys(::read(source.get(), text.data(), text.size()), "read a cpuset");
    const Fd target{sys(::open((to + "/" + name).c_str(), O_WRONLY | O_CLOEXEC), "open a cpuset")};
    sys(::write(target.get(), text.data(), static_cast<std::size_t>(n)), "write a cpuset");
}

}  // namespace

CgroupView::CgroupView(const cgroup::Hierarchies& hierarchies, std::string_view groups) {
    show_v1(hierarchies, std::string{groups});
    if (mounts_.empty() && !hierarchies.v2().empty()) {
        mounts_.push_back({"cgroup2", "root/sys/fs/cgroup", {}});
    }
}

// Fails, as it should, while sandboxes live in it: the next keeper of the state takes it over.
CgroupView::~CgroupView() {
    if (!cpuset_.empty()) ::rmdir(cpuset_.c_str());
}

// Only hierarchies in which a sandbox has a group: a mount of another would show the host's. And only those
// with one controller each, which can be mounted without knowing how their mount options were ordered.
void CgroupView::show_v1(const cgroup::Hierarchies& hierarchies, const std::string& groups) {
    for (const Shown& shown : kV1) {
        const std::string& path = hierarchies.v1(shown.controller);
        if (path.empty() || path.contains(',') || !exists(path + "/" + groups)) continue;
        mounts_.push_back(shown.mount);
        directories_.emplace_back(shown.directory);
    }
    const std::string& memory = hierarchies.v1(Controller::memory);
    if (mounts_.empty() || memory.empty()) return;
    const std::string cpuset = memory.substr(0, memory.rfind('/')) + "/cpuset";
    if (exists(cpuset + "/cpuset.cpus")) make_cpuset(cpuset, groups);
}

// A Java virtual machine takes its limits from v1 groups only where it finds a cpuset among them. One group
// that limits nothing will do for all sandboxes; in it they see their own processes only.
void CgroupView::make_cpuset(const std::string& hierarchy, const std::string& groups) {
    in("shared cpuset", [&] {
        cpuset_ = hierarchy + "/" + groups;
        if (::mkdir(cpuset_.c_str(), 0755) != 0 && errno != EEXIST)
            throw errno_error(errno, "make " + cpuset_);
        copy_setting(hierarchy, cpuset_, "cpuset.cpus");
        copy_setting(hierarchy, cpuset_, "cpuset.mems");
        cpuset_tasks_.reset(
            sys(::open((cpuset_ + "/tasks").c_str(), O_WRONLY | O_CLOEXEC), "open " + cpuset_));
        mounts_.push_back(kCpuset);
        directories_.emplace_back("fs/cgroup/cpuset");
    });
}

}  // namespace oyat::jail
