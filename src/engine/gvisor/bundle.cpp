#include "engine/gvisor/bundle.hpp"

#include <array>

#include "base/json_escape.hpp"

namespace oyat::gvisor {
namespace {

// What root inside needs for apt, dpkg, sudo and servers: those of a jail.
constexpr std::array kCapabilities{"CAP_CHOWN",      "CAP_DAC_OVERRIDE",     "CAP_FSETID",     "CAP_FOWNER",
                                   "CAP_KILL",       "CAP_SETGID",           "CAP_SETUID",     "CAP_SETPCAP",
                                   "CAP_SETFCAP",    "CAP_NET_BIND_SERVICE", "CAP_SYS_CHROOT", "CAP_NET_RAW",
                                   "CAP_AUDIT_WRITE"};

template <class Items>
std::string list(const Items& items) {
    std::string text = "[";
    for (const auto& item : items) {
        if (text.size() > 1) text += ",";
        text += json_string(item);
    }
    return text + "]";
}

std::string process(const BundlePlan& plan) {
    const std::string capabilities = list(kCapabilities);
    const std::string files = std::to_string(plan.open_files);
    return R"({"user":{"uid":0,"gid":0},"cwd":"/","env":[],"args":)" + list(plan.argv) +
           R"(,"capabilities":{"bounding":)" + capabilities + R"(,"effective":)" + capabilities +
           R"(,"permitted":)" + capabilities + R"(},"oomScoreAdj":0,"rlimits":[)" +
           R"({"type":"RLIMIT_NOFILE","hard":)" + files + R"(,"soft":)" + files +
           R"(},{"type":"RLIMIT_CORE","hard":0,"soft":0}]})";
}

std::string bind(std::string_view source, std::string_view inside) {
    return R"({"type":"bind","options":["bind","ro"],"source":)" + json_string(source) +
           R"(,"destination":)" + json_string(inside) + "}";
}

// /tmp is a directory of the disk like in every sandbox; without a word gVisor would lay memory over it.
std::string mounts(const BundlePlan& plan) {
    std::string text =
        R"([{"type":"proc","source":"proc","destination":"/proc"},)"
        R"({"type":"sysfs","source":"sysfs","destination":"/sys","options":["ro"]},)"
        R"({"type":"tmpfs","source":"tmpfs","destination":"/dev"},)"
        R"({"type":"tmpfs","source":"tmpfs","destination":"/dev/shm","options":["nosuid","nodev","size=64m"]})";
    if (plan.with_agent) text += "," + bind(kViewAgent, kAgentInside) + "," + bind(kViewDoor, kDoorInside);
    return text + "]";
}

std::string namespaces() {
    return R"([{"type":"pid"},{"type":"ipc"},{"type":"uts"},{"type":"mount"},{"type":"user"},)"
           R"({"type":"network","path":)" +
           json_string(kViewNetwork) + "}]";
}

}  // namespace

std::string bundle_text(const BundlePlan& plan) {
    const std::string map =
        R"([{"containerID":0,"size":65536,"hostID":)" + std::to_string(plan.first_id) + "}]";
    return R"({"ociVersion":"1.0.2","hostname":)" + json_string(plan.host_name) + R"(,"root":{"path":)" +
           json_string(kViewRoot) + R"(},"process":)" + process(plan) + R"(,"mounts":)" + mounts(plan) +
           R"(,"linux":{"namespaces":)" + namespaces() + R"(,"uidMappings":)" + map + R"(,"gidMappings":)" +
           map + "}}\n";
}

}  // namespace oyat::gvisor
