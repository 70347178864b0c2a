#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace oyat::core {

// Which package manager a command runs to install something: "pip", "npm", "apt", ...; "" for none. It is
// looked for through sudo, env, timeout and the like, and in what `sh -c` is given. A guess by the command's
// text: a script file that installs is not seen through, so nothing that must hold for sure may rest on it.
[[nodiscard]] std::string_view installer_of(const std::vector<std::string>& argv);

}  // namespace oyat::core
