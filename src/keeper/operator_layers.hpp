#pragma once

#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/fd.hpp"

namespace oyat::keeper {

// The operator's settings for sandboxes of one template, as a read-only layer on top of the template's own:
// the host's extra certificates, package indexes and mirrors, a name server. One directory per template and
// state of the host's files, below `dir`; made anew when those change. A layer that sandboxes live on stays
// where it is.
class OperatorLayers {
public:
    explicit OperatorLayers(const std::string& dir);

    // The layer for a template whose root tree is `image` (an O_PATH directory), itself O_PATH. Microseconds,
    // but milliseconds when it has to be made.
    [[nodiscard]] Fd layer_for(std::string_view template_digest, int image);

    // Lines for /etc/hosts.
    [[nodiscard]] const std::string& hosts();

    // Removes the layers of earlier states of the host. Only while no sandbox lives.
    void remove_outdated() noexcept;

private:
    void look_at_host();

    std::string dir_;
    std::string fingerprint_;  // of the host's files when they were last looked at
    std::string hosts_;
    MonoTime looked_{};
};

}  // namespace oyat::keeper
