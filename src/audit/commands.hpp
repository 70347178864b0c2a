#pragma once

#include <boost/json/object.hpp>
#include <filesystem>
#include <functional>
#include <string>

namespace oyat::audit {

// Everything that the record of a sandbox says about each of its commands, joined to one object a command
// when it ended (docs/internals/audit.md, "The joined record of a command"). Commands whose end is not in the
// record come last. Needs no server, and holds no more in memory than the commands that ran at once. Throws
// Error when the files cannot be read.
void for_each_command(const std::filesystem::path& directory, const std::string& sandbox,
                      const std::function<void(const boost::json::object&)>& take);

}  // namespace oyat::audit
