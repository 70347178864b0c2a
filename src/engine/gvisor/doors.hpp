#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/fd.hpp"
#include "engine/gvisor/homes.hpp"

namespace oyat::gvisor {

// The sockets at which agents knock. An agent has one connection to the host, made by itself, and makes
// another a moment after it has lost that one: gVisor's sandboxes can connect to a socket of the host and be
// written to disk, but not listen and be written. A door that a former keeper had is opened anew when it is
// first used.
//
// Root inside can knock as well as its agent; it could only lie about its own sandbox.
class Doors {
public:
    explicit Doors(const Homes& homes) : homes_{homes} {}

    void open(std::string_view id);
    // For poll: readable when somebody has knocked.
    [[nodiscard]] int listener(std::string_view id);

    // The newest connection, non-blocking, for which the one before is cut; `unavailable` if nobody knocks
    // within 0.4 s.
    [[nodiscard]] Fd answer(std::string_view id);

    // Nobody can be, or become, connected.
    void close(std::string_view id) noexcept;

private:
    struct Door {
        Fd listener;
        Fd answered;  // a copy of the connection, to cut it by
    };

    Door& door(std::string_view id);

    const Homes& homes_;
    std::map<std::string, Door, std::less<>> doors_;
};

}  // namespace oyat::gvisor
