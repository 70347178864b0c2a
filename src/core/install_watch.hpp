#pragma once

#include <string>
#include <vector>

#include "io/task.hpp"

namespace oyat::core {

// Hears of a sandbox's commands as they come and go, because some of them install packages.
class InstallWatch {
public:
    virtual ~InstallWatch() = default;
    // Before its program starts; what must hold while it runs is in force on return. Throws when that can't
    // be.
    virtual Task<> command_starts(std::string command, std::vector<std::string> argv) = 0;
    // It was found running after a restart.
    virtual void command_found(const std::string& command, const std::vector<std::string>& argv) = 0;
    // However it ended, also when it never began.
    virtual void command_ended(const std::string& command) = 0;
};

}  // namespace oyat::core
