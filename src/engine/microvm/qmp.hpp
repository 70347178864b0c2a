#pragma once

#include <boost/json/object.hpp>
#include <deque>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/fd.hpp"

namespace oyat::microvm {

// QEMU's control connection (docs/interop/qmp-spec). What QEMU says is hostile: the length of a line, the
// depth of its JSON and the number of events kept are bounded, and nobody waits longer than was said.
class Qmp {
public:
    // Connects to the listening socket and takes up the connection. Throws `unavailable`.
    Qmp(const std::string& path, Millis patience);

    // Runs a command; `fd` travels with it. Throws `failed_precondition` with what QEMU says against it.
    boost::json::object ask(std::string_view command, const boost::json::object& arguments = {}, int fd = -1);

    // Until a migration, in or out, is complete. Throws when it failed.
    void wait_for_migration();

private:
    boost::json::object next_message();
    std::string next_line();
    void wait_readable();

    Fd socket_;
    Millis patience_;
    MonoTime until_;
    std::string received_;
    std::deque<boost::json::object> events_;
};

}  // namespace oyat::microvm
