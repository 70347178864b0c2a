#include "agent/hosts_file.hpp"

#include <algorithm>

namespace oyat::agent {

namespace {

bool names(std::string_view line, std::string_view name) {
    if (name.empty() || line.size() <= name.size()) return false;
    if (!line.starts_with("127.0.1.1") || !line.ends_with(name)) return false;
    const char before = line[line.size() - name.size() - 1];
    return before == ' ' || before == '\t';
}

}  // namespace

std::string hosts_renamed(std::string_view hosts, std::string_view before, std::string_view now) {
    std::string out;
    bool named = false;
    while (!hosts.empty()) {
        const std::string_view line = hosts.substr(0, hosts.find('\n'));
        hosts.remove_prefix(std::min(line.size() + 1, hosts.size()));
        const bool is_ours = names(line, before) || names(line, now);
        if (is_ours && named) continue;
        named = named || is_ours;
        out += is_ours ? "127.0.1.1 " + std::string{now} : std::string{line};
        out += '\n';
    }
    if (!named) out += "127.0.1.1 " + std::string{now} + "\n";
    return out;
}

}  // namespace oyat::agent
