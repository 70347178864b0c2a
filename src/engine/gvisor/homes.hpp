#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "engine/common/process.hpp"

namespace oyat::gvisor {

inline const std::string kHolder = "holder";
inline const std::string kKernel = "kernel";

// A directory for each sandbox, named by its id, below one that only root sees. It holds
//
//   state/   runsc's own records, and the socket by which it commands the sandbox
//   door/    the socket at which the sandbox's agent knocks
//   holder   the process that stands in the sandbox's outer network namespace: the one that serves it files
//   kernel   the process that is its kernel
//
// and outlives the keeper.
class Homes {
public:
    // Makes the directory, which goes with this if it is empty then.
    explicit Homes(std::string dir);
    ~Homes();
    Homes(const Homes&) = delete;
    Homes& operator=(const Homes&) = delete;

    // Makes one. `owner`: the host's user id of root inside, who must be able to reach the door.
    void make(std::string_view id, uid_t owner) const;
    void remove(std::string_view id) const noexcept;
    [[nodiscard]] std::vector<std::string> ids() const;

    [[nodiscard]] Fd state(std::string_view id) const;
    [[nodiscard]] Fd door(std::string_view id) const;
    // A place for its memory, made if absent: for one whose memory nobody else keeps.
    [[nodiscard]] Fd image(std::string_view id) const;

    void note(std::string_view id, const std::string& which, const engine::Process& process) const;
    // If it lives.
    [[nodiscard]] std::optional<engine::Process> find(std::string_view id,
                                                      const std::string& which) const noexcept;

private:
    std::string path_;
    Fd dir_;
};

}  // namespace oyat::gvisor
