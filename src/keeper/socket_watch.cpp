#include "keeper/socket_watch.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/log.hpp"

namespace oyat::keeper {
namespace {

constexpr Millis kEvery{250};
constexpr std::uint64_t kLossKib = 256 << 10;  // below that, nobody is asked

std::string text_of(const std::string& path) {
    std::ifstream file{path};
    return {std::istreambuf_iterator<char>{file}, {}};
}

// The `index`th number behind the first `word`; 0 where there is none.
std::uint64_t number_after(std::string_view text, std::string_view word, int index = 0) {
    std::size_t at = text.find(word);
    if (at == std::string_view::npos) return 0;
    at += word.size();
    std::uint64_t number = 0;
    for (int i = 0; i <= index; ++i) {
        at = text.find_first_not_of(' ', at);
        if (at == std::string_view::npos) return 0;
        const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
        if (error != std::errc{}) return 0;
        at = static_cast<std::size_t>(end - text.data());
    }
    return number;
}

// The first file costs the kernel little; the second counts each protocol on each processor.
std::uint64_t netlink_sockets_of(pid_t pid) {
    const std::string net = "/proc/" + std::to_string(pid) + "/net/";
    if (sockets_in_use(text_of(net + "sockstat")) <= SocketWatch::kMostNetlinkSockets) return 0;
    return netlink_sockets(text_of(net + "protocols"));
}

}  // namespace

std::uint64_t sockets_in_use(std::string_view sockstat) {
    return number_after(sockstat, "sockets: used ");
}

std::uint64_t netlink_sockets(std::string_view protocols) {
    return number_after(protocols, "\nNETLINK ", 1);
}

std::uint64_t available_kib(std::string_view meminfo) {
    return number_after(meminfo, "MemAvailable:");
}

SocketWatch::SocketWatch(Loop& loop, Boxes& boxes)
    : loop_{loop}, boxes_{boxes}, most_available_{available_kib(text_of("/proc/meminfo"))} {
    look_again();
}

void SocketWatch::look_again() {
    timer_ = loop_.after(kEvery, [this] {
        look();
        look_again();
    });
}

void SocketWatch::look() {
    const std::uint64_t available = available_kib(text_of("/proc/meminfo"));
    most_available_ = std::max(most_available_, available);
    if (most_available_ - available < kLossKib) return;
    most_available_ = available;
    std::vector<std::string> offenders;
    for (const auto& [id, box] : boxes_.all()) {
        const std::uint64_t held = netlink_sockets_of(box.process.pid);
        if (held <= kMostNetlinkSockets) continue;
        log::warn("a sandbox is ended for its netlink sockets", {{"id", id}, {"sockets", held}});
        offenders.push_back(id);
    }
    for (const std::string& id : offenders) boxes_.end_for_memory(id, "netlink sockets");
}

}  // namespace oyat::keeper
