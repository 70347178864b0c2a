#pragma once

#include <map>
#include <string>
#include <string_view>

namespace oyat::cgroup {

// The controllers that oyat uses, by the kernel's own names.
enum class Controller { memory, cpu, cpuacct, pids, blkio, freezer };

// How this machine arranges its control groups. Hybrid = v1 controllers and a v2 tree beside them, usually
// without controllers of its own; that tree still freezes, kills and lets a process be born inside a group.
enum class Mode { none, v1, v2, hybrid };

[[nodiscard]] std::string_view to_string(Mode mode) noexcept;

// Where the hierarchies are mounted. Paths are never assumed: a controller stands where mountinfo says, or is
// absent.
class Hierarchies {
public:
    // Reads the mount table, /proc/self/mountinfo unless a test brings its own file.
    static Hierarchies probe(const std::string& mountinfo = "/proc/self/mountinfo");
    static Hierarchies parse(std::string_view mountinfo);

    [[nodiscard]] Mode mode() const noexcept;
    // Mount point of the v2 tree or of a v1 controller; empty when there is none.
    [[nodiscard]] const std::string& v2() const noexcept { return v2_; }
    [[nodiscard]] const std::string& v1(Controller controller) const noexcept;

private:
    std::string v2_;
    std::map<Controller, std::string> v1_;
};

}  // namespace oyat::cgroup
