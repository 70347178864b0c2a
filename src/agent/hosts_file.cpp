#include "agent/hosts_file.hpp"

#include <algorithm>

namespace oyat::agent {

std::string hosts_renamed(std::string_view hosts, std::string_view before, std::string_view now) {
    std::string out;
    bool named = false;
    while (!hosts.empty()) {
        const std::string_view line = hosts.substr(0, hosts.find('\n'));
        hosts.remove_prefix(std::min(line.size() + 1, hosts.size()));
        const bool is_ours =
            line.starts_with("127.0.1.1") && !before.empty() &&
            (line.ends_with(" " + std::string{before}) || line.ends_with("\t" + std::string{before}));
        if (is_ours && named) continue;
        named = named || is_ours;
        out += is_ours ? "127.0.1.1 " + std::string{now} : std::string{line};
        out += '\n';
    }
    if (!named) out += "127.0.1.1 " + std::string{now} + "\n";
    return out;
}

}  // namespace oyat::agent
