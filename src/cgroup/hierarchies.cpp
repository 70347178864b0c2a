#include "cgroup/hierarchies.hpp"

#include <array>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>
#include <vector>

#include "base/throwing.hpp"
#include "cgroup/files.hpp"

namespace oyat::cgroup {
namespace {

constexpr std::array<std::pair<Controller, std::string_view>, 6> kNames{{
    {Controller::memory, "memory"},
    {Controller::cpu, "cpu"},
    {Controller::cpuacct, "cpuacct"},
    {Controller::pids, "pids"},
    {Controller::blkio, "blkio"},
    {Controller::freezer, "freezer"},
}};

// mountinfo writes space, tab, newline and backslash as "\040".
std::string unescape(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 3 < text.size()) {
            plain +=
                static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
            i += 3;
        } else {
            plain += text[i];
        }
    }
    return plain;
}

}  // namespace

std::string_view to_string(Mode mode) noexcept {
    switch (mode) {
        case Mode::none: return "none";
        case Mode::v1: return "v1";
        case Mode::v2: return "v2";
        case Mode::hybrid: return "hybrid";
    }
    return "none";
}

Hierarchies Hierarchies::probe(const std::string& mountinfo) {
    std::ifstream file{mountinfo};
    if (!file) throw Error{Errc::not_found, "can't read the mount table " + mountinfo};
    std::ostringstream text;
    text << file.rdbuf();
    return parse(text.str());
}

// A line: "31 23 0:28 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory"
Hierarchies Hierarchies::parse(std::string_view mountinfo) {
    Hierarchies found;
    std::istringstream lines{std::string{mountinfo}};
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words{line};
        std::vector<std::string> fields{std::istream_iterator<std::string>{words}, {}};
        std::size_t dash = 6;
        while (dash < fields.size() && fields[dash] != "-") ++dash;
        if (dash + 3 >= fields.size() || has_word(fields[5], "ro")) continue;
        const std::string& type = fields[dash + 1];
        const std::string& options = fields[dash + 3];
        const std::string where = unescape(fields[4]);
        if (type == "cgroup2" && found.v2_.empty()) found.v2_ = where;
        if (type != "cgroup") continue;
        for (const auto& [controller, name] : kNames) {
            if (has_word(options, name)) found.v1_.emplace(controller, where);
        }
    }
    return found;
}

Mode Hierarchies::mode() const noexcept {
    if (v1_.empty()) return v2_.empty() ? Mode::none : Mode::v2;
    return v2_.empty() ? Mode::v1 : Mode::hybrid;
}

const std::string& Hierarchies::v1(Controller controller) const noexcept {
    static const std::string kAbsent;
    const auto found = v1_.find(controller);
    return found == v1_.end() ? kAbsent : found->second;
}

}  // namespace oyat::cgroup
