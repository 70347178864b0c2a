#include "keeper/census.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "base/fd.hpp"

namespace oyat::keeper {
namespace {

std::string read_text(const std::string& path) {
    std::string text;
    const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!file) return text;
    std::array<char, 8192> part;
    for (ssize_t n = 0; (n = ::read(file.get(), part.data(), part.size())) > 0;) {
        text.append(part.data(), static_cast<std::size_t>(n));
    }
    return text;
}

// The box whose control group the process is in, or nothing: "4:memory:/oyat-ab12cd/i123/c4".
std::string box_of_process(const std::string& pid, const std::string& mark) {
    const std::string groups = read_text("/proc/" + pid + "/cgroup");
    const std::size_t at = groups.find(mark);
    if (at == std::string::npos) return {};
    const std::size_t from = at + mark.size();
    return groups.substr(from, groups.find_first_of("/\n", from) - from);
}

std::map<std::string, std::uint32_t> processes_by_box(std::string_view state_id) {
    const std::string mark = "/oyat-" + std::string{state_id} + "/";
    std::map<std::string, std::uint32_t> counts;
    const std::unique_ptr<DIR, int (*)(DIR*)> proc{::opendir("/proc"), ::closedir};
    while (const dirent* entry = proc ? ::readdir(proc.get()) : nullptr) {
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
        // A dead process that nobody has reaped holds nothing: those of a killed keeper are init's to reap.
        if (read_text("/proc/" + std::string{entry->d_name} + "/stat").contains(") Z ")) continue;
        if (const std::string id = box_of_process(entry->d_name, mark); !id.empty()) ++counts[id];
    }
    return counts;
}

std::uint32_t mounts_of(pid_t pid) {
    const std::string mounts = read_text("/proc/" + std::to_string(pid) + "/mountinfo");
    return static_cast<std::uint32_t>(std::ranges::count(mounts, '\n'));
}

bool has_network(pid_t pid) {
    struct stat status{};
    return ::stat(("/proc/" + std::to_string(pid) + "/ns/net").c_str(), &status) == 0;
}

}  // namespace

Census take_census(const Boxes& boxes, const cgroup::Parent& groups, const netns::NetnsPool& namespaces,
                   std::string_view state_id) {
    Census census;
    const auto count_for = [&](const std::string& id) -> wire::HeldCounts& {
        const auto found = boxes.all().find(id);
        const bool held = found != boxes.all().end() && found->second.record.stage == Stage::handed_out;
        return held ? census.held : census.pooled;
    };
    for (const auto& [id, box] : boxes.all()) {
        wire::HeldCounts& counts = count_for(id);
        ++counts.sandboxes;
        counts.mounts += mounts_of(box.process.pid);
        if (has_network(box.process.pid)) ++counts.netns;
    }
    for (const std::string& id : groups.names()) ++count_for(id).cgroups;
    for (const auto& [id, count] : processes_by_box(state_id)) count_for(id).processes += count;
    census.pooled.netns += static_cast<std::uint32_t>(namespaces.ready());
    return census;
}

}  // namespace oyat::keeper
