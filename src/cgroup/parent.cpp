#include "cgroup/parent.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>

#include "base/defer.hpp"
#include "base/throwing.hpp"
#include "cgroup/files.hpp"

namespace oyat::cgroup {
namespace {

// A v2 group's bound on the child groups that the agent makes, one per running command. Without it a hostile
// agent could fill the kernel's memory with groups.
constexpr std::string_view kMaxChildren = "4096";

// The name that v2 gives to a controller; v1's cpuacct is part of every v2 group.
std::string_view v2_name(Controller controller) {
    switch (controller) {
        case Controller::memory: return "memory";
        case Controller::cpu: return "cpu";
        case Controller::pids: return "pids";
        case Controller::blkio: return "io";
        case Controller::cpuacct:
        case Controller::freezer: break;
    }
    return "";
}

void check_name(std::string_view name) {
    const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
    if (name.empty() || name.size() > 40 || !std::ranges::all_of(name, fits)) {
        throw Error{Errc::invalid_argument, "a group's name is [a-z0-9-]{1,40}"};
    }
}

Fd make_and_open(const std::string& path) {
    if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) throw errno_error(errno, "mkdir " + path);
    return Fd{sys(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open " + path)};
}

// Lets the groups below `dir` use what `dir` itself may use of our four. One write each: a kernel refuses the
// whole line for one controller that it can't enable.
void enable_controllers(int dir) {
    const std::string available = read_control(dir, "cgroup.controllers").value_or("");
    for (const std::string_view name : {"memory", "cpu", "pids", "io"}) {
        if (!has_word(available, name)) continue;
        in("enable v2 controller",
           [&] { write_control(dir, "cgroup.subtree_control", "+" + std::string{name}); });
    }
}

// "8:0" of the disk that a device is, or is a partition of: only whole disks can be throttled.
std::string disk_of(dev_t device) {
    const std::string numbers = std::to_string(major(device)) + ":" + std::to_string(minor(device));
    const std::string sysfs = "/sys/dev/block/" + numbers;
    const Fd dir{::open(sysfs.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!dir) return {};
    if (!is_present(dir.get(), "partition")) return numbers;
    std::string disk = read_control(dir.get(), "../dev").value_or("");
    if (disk.ends_with('\n')) disk.pop_back();
    return disk;
}

}  // namespace

Parent::Parent(const Hierarchies& hierarchies, std::string_view state_id, const std::string& delegated)
    : mode_{hierarchies.mode()} {
    check_name(state_id);
    const std::string own = "/oyat-" + std::string{state_id};
    if (!hierarchies.v2().empty()) {
        const std::string above = delegated.empty() ? hierarchies.v2() : delegated;
        in("open v2 groups", [&] {
            const Fd dir{sys(::open(above.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open " + above)};
            enable_controllers(dir.get());
            v2_ = Tree{.dir = make_and_open(above + own), .path = above + own};
            enable_controllers(v2());
            v2_controllers_ = read_control(v2(), "cgroup.subtree_control").value_or("");
        });
    }
    for (const Controller controller : {Controller::memory, Controller::cpu, Controller::cpuacct,
                                        Controller::pids, Controller::blkio, Controller::freezer}) {
        // Where there is a v2 tree, it freezes better than the v1 controller. (It counts CPU time better too, but a
        // Java virtual machine inside takes its limits from v1 groups only if it has one in cpuacct as well.)
        const bool v2_does_it = controller == Controller::freezer;
        const std::string& mount = hierarchies.v1(controller);
        if (mount.empty() || (v2_ && v2_does_it)) continue;
        const std::string path = mount + own;
        const auto index = static_cast<std::size_t>(std::ranges::find(v1_, path, &Tree::path) - v1_.begin());
        if (index == v1_.size()) v1_.push_back({.dir = make_and_open(path), .path = path});
        v1_of_.emplace(controller, index);
    }
    // Groups made below inherit it: v1's way to say "no swap" where the kernel counts none (no
    // memory.memsw.*).
    if (v1(Controller::memory) >= 0)
        write_control_if_present(v1(Controller::memory), "memory.swappiness", "0");
}

int Parent::v1(Controller controller) const noexcept {
    const auto found = v1_of_.find(controller);
    return found == v1_of_.end() ? -1 : v1_[found->second].dir.get();
}

bool Parent::v2_has(Controller controller) const noexcept {
    return has_word(v2_controllers_, v2_name(controller));
}

std::vector<int> Parent::trees() const {
    std::vector<int> all;
    if (v2_) all.push_back(v2());
    for (const Tree& tree : v1_) all.push_back(tree.dir.get());
    return all;
}

bool Parent::throttle_device(dev_t device) {
    io_device_.clear();
    const std::string disk = disk_of(device);
    if (disk.empty()) return false;
    try {  // a trial that sets no limit
        if (const int dir = v1(Controller::blkio); dir >= 0) {
            write_control(dir, "blkio.throttle.read_bps_device", disk + " 0");
        } else if (v2_has(Controller::blkio)) {
            write_control(v2(), "io.max", disk + " rbps=max wbps=max");
        } else {
            return false;
        }
    } catch (const Error&) {
        return false;
    }
    io_device_ = disk;
    return true;
}

Group Parent::create(std::string_view name, const Limits& limits, uid_t owner) const {
    check_name(name);
    Group group{*this, std::string{name}};
    return in("make group " + group.name(), [&] {
        std::vector<int> made;
        Defer undo{[&] {
            for (const int tree : made) ::unlinkat(tree, group.name().c_str(), AT_REMOVEDIR);
        }};
        for (const int tree : trees()) {
            sys(::mkdirat(tree, group.name().c_str(), 0755), "mkdir");
            made.push_back(tree);
        }
        group.update(limits);
        if (v2_) {
            const std::string& dir = group.name();
            write_control(v2(), dir + "/cgroup.max.descendants", kMaxChildren);
            write_control(v2(), dir + "/cgroup.max.depth", "1");
            for (const char* file : {"", "/cgroup.procs", "/cgroup.threads"}) {
                sys(::fchownat(v2(), (dir + file).c_str(), owner, owner, 0), "give to the sandbox");
            }
        }
        undo.dismiss();
        return group;
    });
}

std::optional<Group> Parent::find(std::string_view name) const {
    check_name(name);
    Group group{*this, std::string{name}};
    for (const int tree : trees()) {
        if (is_present(tree, group.name())) return group;
    }
    return std::nullopt;
}

std::vector<std::string> Parent::names() const {
    std::set<std::string> all;
    for (const int tree : trees())
        all.merge([&] {
            const std::vector<std::string> found = directories_in(tree);
            return std::set<std::string>{found.begin(), found.end()};
        }());
    return {all.begin(), all.end()};
}

bool Parent::remove() const {
    bool gone = !v2_ || ::rmdir(v2_->path.c_str()) == 0 || errno == ENOENT;
    for (const Tree& tree : v1_) gone &= ::rmdir(tree.path.c_str()) == 0 || errno == ENOENT;
    return gone;
}

Mechanism Parent::io_mechanism() const {
    if (io_device_.empty())
        return {"io", "not enforced: no controller can throttle the store's device", false};
    if (v1(Controller::blkio) >= 0) {
        return {"io", "cgroup v1 blkio.throttle: reads and synchronous writes only", false};
    }
    return {"io", "cgroup v2 io.max", true};
}

std::vector<Mechanism> Parent::mechanisms() const {
    struct Row {
        Controller controller;
        const char* limit;
        const char* v1_file;
        const char* v2_file;
    };
    static constexpr std::array<Row, 3> kRows{{
        {Controller::memory, "memory", "memory.limit_in_bytes", "memory.max"},
        {Controller::cpu, "cpu", "cpu.cfs_quota_us", "cpu.max"},
        {Controller::pids, "processes", "pids.max", "pids.max"},
    }};
    std::vector<Mechanism> all;
    for (const Row& row : kRows) {
        if (v1(row.controller) >= 0) {
            all.push_back({row.limit, std::string{"cgroup v1 "} + row.v1_file, true});
        } else if (v2_has(row.controller)) {
            all.push_back({row.limit, std::string{"cgroup v2 "} + row.v2_file, true});
        } else {
            all.push_back({row.limit, std::string{"not enforced: no "} + row.limit + " controller", false});
        }
    }
    all.push_back(io_mechanism());
    return all;
}

}  // namespace oyat::cgroup
