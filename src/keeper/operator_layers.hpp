#pragma once

#include <string>
#include <string_view>

#include "base/fd.hpp"

namespace oyat::keeper {

// The operator's settings for sandboxes of one template, as a read-only layer on top of the template's own:
// the host's extra certificates, package indexes and mirrors, name server, hosts. Made anew when what it is
// made from changes.
class OperatorLayers {
public:
    explicit OperatorLayers(const std::string& dir);

    // The layer for a template whose root tree is `image`, an O_PATH directory. Milliseconds when it has to
    // be made.
    [[nodiscard]] Fd layer_for(std::string_view template_digest, int image);

private:
    std::string dir_;
};

}  // namespace oyat::keeper
