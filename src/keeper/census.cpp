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

bool has_network(pid_t pid) {
    struct stat status{};
    return ::stat(("/proc/" + std::to_string(pid) + "/ns/net").c_str(), &status) == 0;
}

}  // namespace

Census::Census(const cgroup::Parent& groups, const netns::NetnsPool& namespaces, std::string_view state_id)
    : groups_{groups}, namespaces_{namespaces}, mark_{"/oyat-" + std::string{state_id} + "/"} {}

std::map<std::string, std::uint32_t> Census::processes_by_box() const {
    std::map<std::string, std::uint32_t> counts;
    const std::unique_ptr<DIR, int (*)(DIR*)> proc{::opendir("/proc"), ::closedir};
    while (const dirent* entry = proc ? ::readdir(proc.get()) : nullptr) {
        const std::string pid = entry->d_name;
        if (pid[0] < '1' || pid[0] > '9') continue;
        const std::string id = box_of_process(pid, mark_);
        // A dead process that nobody has reaped holds nothing: those of a killed keeper are init's to reap.
        if (id.empty() || read_text("/proc/" + pid + "/stat").contains(") Z ")) continue;
        ++counts[id];
    }
    return counts;
}

std::uint32_t Census::mounts_of(const Box& box) {
    const auto found = mounts_.find(box.record.id);
    if (found != mounts_.end()) return found->second;
    const std::string table = read_text("/proc/" + std::to_string(box.process.pid) + "/mountinfo");
    return mounts_[box.record.id] = static_cast<std::uint32_t>(std::ranges::count(table, '\n'));
}

Census::Figures Census::take(const Boxes& boxes) {
    Figures figures;
    std::erase_if(mounts_, [&](const auto& entry) { return !boxes.all().contains(entry.first); });
    const auto count_for = [&](const std::string& id) -> wire::HeldCounts& {
        const auto found = boxes.all().find(id);
        const bool held = found != boxes.all().end() && found->second.record.stage == Stage::handed_out;
        return held ? figures.held : figures.pooled;
    };
    for (const auto& [id, box] : boxes.all()) {
        wire::HeldCounts& counts = count_for(id);
        ++counts.sandboxes;
        counts.mounts += mounts_of(box);
        if (has_network(box.process.pid)) ++counts.netns;
    }
    for (const std::string& id : groups_.names()) ++count_for(id).cgroups;
    for (const auto& [id, count] : processes_by_box()) count_for(id).processes += count;
    figures.pooled.netns += static_cast<std::uint32_t>(namespaces_.ready());
    return figures;
}

}  // namespace oyat::keeper
