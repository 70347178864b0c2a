#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "policy/vocabulary.hpp"

namespace oyat::daemon {

// Where the package managers of this machine and of its sandboxes are told to fetch from: the operator's own
// registries, which count as such under the preset packages-only.

// From variables like PIP_INDEX_URL, GOPROXY (a list) or CARGO_REGISTRIES_CORP_INDEX.
[[nodiscard]] std::vector<policy::Mirror> mirrors_in(const std::map<std::string, std::string>& environment);
// From the text of a configuration file of apt, pip or npm: every URL outside comments.
[[nodiscard]] std::vector<policy::Mirror> mirrors_in(std::string_view text);
// Those of the machine: sources.list, sources.list.d, pip.conf and npmrc below `etc`. What is absent or
// cannot be read names none.
[[nodiscard]] std::vector<policy::Mirror> mirrors_of_machine(const std::filesystem::path& etc = "/etc");

}  // namespace oyat::daemon
