#pragma once

#include <boost/json/object.hpp>
#include <string>

namespace oyat::cli {

// A document out of a file ("-": standard input; JSON when its name ends in .json, else TOML), or of a
// preset's name. Read here, so that a mistake is shown with the line of the file. Throws Failure.
[[nodiscard]] boost::json::object policy_document(const std::string& file, const std::string& preset);

}  // namespace oyat::cli
