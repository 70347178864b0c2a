#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace oyat::keeper {

struct Options {
    enum class Command { serve, import_template };

    Command command = Command::serve;
    std::string state;
    std::string run;
    std::string templates;
    std::string agent;
    std::string kernel = "/usr/lib/oyat/kernel";  // of microvm sandboxes
    std::string runsc = "/usr/lib/oyat/runsc";    // of gvisor sandboxes
    std::string limits_file;
    std::string cgroup;  // the v2 group that the holder unit keeps for us
    std::string template_name;
    gid_t socket_group = 0;
    uid_t oyatd_user = 0;
    std::optional<std::size_t> pool;
    std::optional<std::size_t> pool_most;
    int ready_fd = -1;
    bool ephemeral = false;
    bool help = false;
};

[[nodiscard]] Result<Options> parse_options(const std::vector<std::string_view>& arguments);
[[nodiscard]] std::string_view usage();

}  // namespace oyat::keeper
