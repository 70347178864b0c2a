#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"

namespace oyat::engine {

// The agents' listening sockets: `<run>/agents/<id>.sock`, in a 0700 directory of root that no sandbox sees.
// The agent holds the listener, so that a connection can be made anew whoever has died in between.
class AgentDoors {
public:
    explicit AgentDoors(const std::string& dir);

    // A listening socket for a new agent.
    [[nodiscard]] Fd open(std::string_view id) const;
    // A connected stream, non-blocking. The agent drops the connection that it had before.
    [[nodiscard]] Fd connect(std::string_view id) const;
    void remove(std::string_view id) const noexcept;
    // The ids that have a socket, sorted.
    [[nodiscard]] std::vector<std::string> ids() const;
    // Removes the directory when nothing is in it.
    void remove_all_if_empty() const noexcept;

private:
    std::string path_;
    Fd dir_;
};

}  // namespace oyat::engine
