#pragma once

#include <string>
#include <string_view>

namespace oyat::agent {

// The text of /etc/hosts with `now` in the place of `before`, where a line of a loopback address names it;
// with a line of its own when there was none.
[[nodiscard]] std::string hosts_renamed(std::string_view hosts, std::string_view before,
                                        std::string_view now);

}  // namespace oyat::agent
