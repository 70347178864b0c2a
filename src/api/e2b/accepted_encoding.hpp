#pragma once

#include <string_view>

namespace oyat::e2b {

enum class ContentCoding { identity, gzip, none_acceptable };

// Which form a download has. Compression costs more than a local network does, so a client gets it only when
// it names gzip and nothing else: "gzip, deflate" is what HTTP libraries send unasked.
[[nodiscard]] ContentCoding coding_for(std::string_view accept_encoding);

}  // namespace oyat::e2b
